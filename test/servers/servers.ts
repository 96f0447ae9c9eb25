// Published MCP servers, each as its own README configures it, with the version that was looked at.
import type { JsonObject } from '../../src/contract/json.ts';

export interface PublishedServer {
  /** The entry of `mcpServers` in its README, the version aside; {work} stands for a folder that is given to it. */
  readonly readme: JsonObject;
  /** What an operator adds. */
  readonly more?: JsonObject;
  /** For variables that the README leaves to the reader. */
  readonly keys?: { readonly [variable: string]: string };
  readonly call: {
    readonly tool: string;
    readonly arguments: JsonObject;
    /** In the text of the answer. Left out: the tool may also say that it could not, as without an account or a network. */
    readonly says?: RegExp;
  };
}

const npx = (name: string, ...args: string[]) => ({ command: 'npx', args: ['-y', name, ...args] });
const uvx = (name: string, ...args: string[]) => ({ command: 'uvx', args: [name, ...args] });
/** For a server that does not say which SDK it was made with, and does not run on the next one. */
const MCP_1 = 'pypi:mcp==1.26.0';
const WORK = { writable: ['{work}'] };

export const SERVERS: { readonly [name: string]: PublishedServer } = {
  everything: {
    readme: npx('@modelcontextprotocol/server-everything@2026.8.31'),
    call: { tool: 'echo', arguments: { message: 'hello' }, says: /hello/ },
  },
  filesystem: {
    readme: npx('@modelcontextprotocol/server-filesystem@2026.8.31', '{work}'),
    more: WORK,
    call: { tool: 'list_directory', arguments: { path: '{work}' }, says: /note\.txt/ },
  },
  memory: {
    readme: {
      ...npx('@modelcontextprotocol/server-memory@2026.8.31'),
      env: { MEMORY_FILE_PATH: '/tmp/memory.json' },
    },
    call: { tool: 'read_graph', arguments: {}, says: /entities/ },
  },
  'sequential-thinking': {
    readme: npx('@modelcontextprotocol/server-sequential-thinking@2026.8.31'),
    call: {
      tool: 'sequentialthinking',
      arguments: { thought: 'one', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false },
      says: /thoughtNumber/,
    },
  },
  github: {
    readme: {
      ...npx('@modelcontextprotocol/server-github@2025.4.8'),
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: '<YOUR_TOKEN>' },
    },
    keys: { GITHUB_PERSONAL_ACCESS_TOKEN: 'ghp_none' },
    call: { tool: 'search_repositories', arguments: { query: 'x' } },
  },
  slack: {
    readme: {
      ...npx('@modelcontextprotocol/server-slack@2025.4.25'),
      env: { SLACK_BOT_TOKEN: 'xoxb-your-bot-token', SLACK_TEAM_ID: 'T01234567' },
    },
    keys: { SLACK_BOT_TOKEN: 'xoxb-none' },
    call: { tool: 'slack_list_channels', arguments: {} },
  },
  'google-maps': {
    readme: {
      ...npx('@modelcontextprotocol/server-google-maps@0.6.2'),
      env: { GOOGLE_MAPS_API_KEY: '<YOUR_API_KEY>' },
    },
    keys: { GOOGLE_MAPS_API_KEY: 'none' },
    call: { tool: 'maps_geocode', arguments: { address: 'x' } },
  },
  'brave-search': {
    readme: {
      ...npx('@modelcontextprotocol/server-brave-search@0.6.2'),
      env: { BRAVE_API_KEY: 'YOUR_API_KEY_HERE' },
    },
    keys: { BRAVE_API_KEY: 'none' },
    call: { tool: 'brave_web_search', arguments: { query: 'x' } },
  },
  postgres: {
    readme: npx('@modelcontextprotocol/server-postgres@0.6.2', 'postgresql://127.0.0.1:9/none'),
    call: { tool: 'query', arguments: { sql: 'select 1' } },
  },
  context7: {
    readme: npx('@upstash/context7-mcp@4.1.1'),
    call: { tool: 'resolve-library-id', arguments: { query: 'x', libraryName: 'react' } },
  },
  notion: {
    readme: { ...npx('@notionhq/notion-mcp-server@2.5.2'), env: { NOTION_TOKEN: 'ntn_****' } },
    keys: { NOTION_TOKEN: 'ntn_none' },
    call: { tool: 'API-get-self', arguments: {} },
  },
  tavily: {
    readme: { ...npx('tavily-mcp@0.2.22'), env: { TAVILY_API_KEY: 'your-api-key-here' } },
    keys: { TAVILY_API_KEY: 'tvly-none' },
    call: { tool: 'tavily_search', arguments: { query: 'x' } },
  },
  playwright: {
    readme: npx('@playwright/mcp@0.0.83'),
    call: { tool: 'browser_tabs', arguments: { action: 'list' } },
  },
  'hello-world': {
    readme: npx('mcp-hello-world@1.1.2'),
    call: { tool: 'echo', arguments: { message: 'hello' } },
  },
  eslint: {
    readme: npx('@eslint/mcp@0.3.13'),
    call: { tool: 'lint-files', arguments: { filePaths: ['/tmp/none.js'] } },
  },
  mongodb: {
    readme: npx('mongodb-mcp-server@3.0.4', '--readOnly'),
    call: { tool: 'list-databases', arguments: {} },
  },
  time: {
    readme: uvx('mcp-server-time@2026.10.19', '--local-timezone=UTC'),
    call: { tool: 'get_current_time', arguments: { timezone: 'Europe/Berlin' }, says: /Berlin/ },
  },
  fetch: {
    readme: uvx('mcp-server-fetch@2026.10.24'),
    call: { tool: 'fetch', arguments: { url: 'http://127.0.0.1:9/' } },
  },
  git: {
    readme: uvx('mcp-server-git@2026.10.19', '--repository', '{work}'),
    more: WORK,
    call: { tool: 'git_status', arguments: { repo_path: '{work}' } },
  },
  sqlite: {
    readme: uvx('mcp-server-sqlite@2025.4.25', '--db-path', '{work}/test.db'),
    more: { ...WORK, package: ['pypi:mcp-server-sqlite==2025.4.25', MCP_1] },
    call: { tool: 'list_tables', arguments: {} },
  },
  calculator: {
    readme: uvx('mcp-server-calculator@0.2.1'),
    call: { tool: 'calculate', arguments: { expression: '6 * 7' }, says: /42/ },
  },
  duckduckgo: {
    readme: uvx('duckduckgo-mcp-server@0.7.0'),
    call: { tool: 'search', arguments: { query: 'x' } },
  },
  duckdb: {
    readme: uvx('mcp-server-duckdb@1.1.0', '--db-path', '{work}/test.duckdb'),
    more: { ...WORK, package: ['pypi:mcp-server-duckdb==1.1.0', MCP_1] },
    call: { tool: 'query', arguments: { query: 'select 40 + 2 as n' }, says: /42/ },
  },
  shell: {
    readme: { ...uvx('mcp-shell-server@1.1.14'), env: { ALLOW_COMMANDS: 'ls,cat,pwd' } },
    more: WORK,
    call: {
      tool: 'shell_execute',
      arguments: { command: ['cat', '{work}/note.txt'], directory: '{work}' },
      says: /a note/,
    },
  },
  markitdown: {
    readme: uvx('markitdown-mcp@0.0.1a8'),
    more: WORK,
    call: {
      tool: 'convert_to_markdown',
      arguments: { uri: 'data:text/plain;base64,aGVsbG8=' },
      says: /hello/,
    },
  },
  excel: {
    readme: uvx('excel-mcp-server@2.2.2', 'stdio'),
    more: WORK,
    call: { tool: 'create_workbook', arguments: { path: '{work}/new.xlsx' }, says: /new\.xlsx/ },
  },
};
