// The loaders, held to the suite that every one of them passes, each over a real source.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import { SdkMcpServers } from '../../src/infra/mcp/sdk-mcp-servers.ts';
import { MemoryTrustedDefinitions } from '../../src/infra/definitions/memory-trusted-definitions.ts';
import { GatewayDatabase } from '../../src/infra/postgres/gateway-database.ts';
import { SqlSpecStore } from '../../src/infra/specs/sql-spec-store.ts';
import { canonicalHash } from '../../src/lib/json/canonical-json.ts';
import { httpLoader } from '../../src/loaders/http/index.ts';
import { optionsSchema as httpOptions } from '../../src/loaders/http/options.ts';
import { LOADERS } from '../../src/loaders/index.ts';
import { mcpServerLoader } from '../../src/loaders/mcp-server/index.ts';
import { optionsSchema as mcpOptions } from '../../src/loaders/mcp-server/options.ts';
import { openApiLoader } from '../../src/loaders/openapi/index.ts';
import { optionsSchema as openApiOptions } from '../../src/loaders/openapi/options.ts';
import { packLoader } from '../../src/loaders/pack/index.ts';
import { optionsSchema as packOptions } from '../../src/loaders/pack/options.ts';
import { postgresLoader } from '../../src/loaders/postgres/index.ts';
import { optionsSchema as postgresOptions } from '../../src/loaders/postgres/options.ts';
import { pythonModuleLoader } from '../../src/loaders/python-module/index.ts';
import { optionsSchema as pythonOptions } from '../../src/loaders/python-module/options.ts';
import { toolFolderLoader } from '../../src/loaders/tool-folder/index.ts';
import { optionsSchema as toolFolderOptions } from '../../src/loaders/tool-folder/options.ts';
import { yamlFileLoader } from '../../src/loaders/yaml-file/index.ts';
import type { ChildProcess } from '../../src/ports/egress/process-spawner.ts';
import { document, httpTool } from '../helpers/http-loader-kit.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { PythonModules } from '../helpers/python-modules.ts';
import { quietLog } from '../helpers/quiet-log.ts';
import { SandboxBench } from '../helpers/sandbox.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { HANDLER, schemaOf, writeToolFolder } from '../helpers/tool-folder-kit.ts';
import { grpcFile, grpcReflected } from './grpc-sources.ts';
import { describeLoader, type LoaderHarness, type SourcePlace } from './loader.suite.ts';

const SECRET = 'sup3r-s3cret-0f-the-entry';
const LOOPBACK = { allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };

/** The line, from 1, on which the text stands for the first time. */
function lineOf(text: string, wanted: string): number {
  return text.slice(0, text.indexOf(wanted)).split('\n').length;
}

const toolLine = (text: string, name: string) => lineOf(text, `name: ${name}\n`);

/** How many files and folders this process watches. */
function watches(): number {
  const inotify = readdirSync('/proc/self/fdinfo').map((fd) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
    } catch {
      return '';
    }
  });
  return inotify.join('\n').match(/^inotify wd:/gm)?.length ?? 0;
}

/** Two tools, each with something wrong in it. */
const WRONG = document(httpTool('one', 'timeout_ms: soon'), httpTool('two', 'colour: red'));
const wrongPlaces = (file: string): readonly SourcePlace[] => [
  { file, line: lineOf(WRONG, 'timeout_ms'), path: 'timeout_ms' },
  { file, line: lineOf(WRONG, 'colour'), path: 'colour' },
];

/** A server on loopback that answers, refuses, or says nothing. */
class Source {
  readonly #servers = new LoopbackServers();
  #waiting = Promise.withResolvers<void>();
  mode: 'answers' | 'away' | 'hangs' = 'answers';
  origin = '';

  async start(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<this> {
    this.origin = await this.#servers.http((request, response) => {
      if (this.mode === 'answers') return answer(request, response);
      if (this.mode === 'hangs') return this.#waiting.resolve();
      const { authorization = '' } = request.headers;
      return response.writeHead(503).end(`${request.url} with ${authorization} is away`);
    });
    return this;
  }

  hang(): void {
    this.#waiting = Promise.withResolvers();
    this.mode = 'hangs';
  }

  asked(): Promise<void> {
    return this.#waiting.promise;
  }

  close(): Promise<void> {
    return this.#servers.close();
  }
}

async function yamlFile(): Promise<LoaderHarness> {
  const dir = tempDir();
  const file = join(dir, 'tools.yaml');
  const before = watches();
  const connection = `connections:\n  api: { type: http, base_url: "https://api.example.com", auth: { type: bearer, token: "\${file:token}" } }\n`;
  const write = (tools: string) => writeFileSync(file, tools + connection);
  let written = '';
  return {
    open: (needs) => yamlFileLoader.create({ ...needs, configDir: dir })({ paths: ['tools.yaml'] }),
    source: file,
    placeOf: (name) => ({ file, line: toolLine(written, name) }),
    whenAway: 'refused',
    offer(...names) {
      writeFileSync(join(dir, 'token'), SECRET);
      written = document(...names.map((name) => httpTool(name)));
      write(written);
    },
    spoil() {
      write(WRONG);
      return wrongPlaces(file);
    },
    goAway: () => rmSync(file),
    hang: () => undefined,
    asked: async () => undefined,
    secret: SECRET,
    held: () => watches() - before,
    close: () => removeDir(dir),
  };
}

async function pack(): Promise<LoaderHarness> {
  const dir = tempDir();
  const file = join(dir, 'tools.yaml');
  const connection = `connections:\n  api: { type: http, base_url: "https://api.example.com", auth: { type: bearer, token: "\${file:token}" } }\n`;
  let written = '';
  return {
    open: (needs) =>
      packLoader.create({
        ...needs,
        configDir: dir,
        entryProblem: (path, message) => ({ file, path: path.join('.'), message }),
      })(packOptions.parse({ name: 'ours', path: '.' })),
    source: file,
    placeOf: (name) => ({ file, line: toolLine(written, name) }),
    whenAway: 'refused',
    offer(...names) {
      writeFileSync(join(dir, 'token'), SECRET);
      writeFileSync(
        join(dir, 'pack.yaml'),
        'name: ours\nsummary: Tools of ours.\nfirst_call: { tool: one, arguments: {} }\n',
      );
      written = document(...names.map((name) => httpTool(name)));
      writeFileSync(file, written + connection);
    },
    spoil() {
      writeFileSync(file, WRONG + connection);
      return wrongPlaces(file);
    },
    goAway: () => rmSync(file),
    hang: () => undefined,
    asked: async () => undefined,
    secret: SECRET,
    held: () => 0,
    close: () => removeDir(dir),
  };
}

async function toolFolder(): Promise<LoaderHarness> {
  const dir = tempDir();
  const root = join(dir, 'tools');
  const schemaOfTool = (name: string) => join(root, name, 'schema.json');
  return {
    open: (needs) =>
      toolFolderLoader.create({
        ...needs,
        configDir: dir,
        trustedDefinitions: new MemoryTrustedDefinitions(needs),
      })(toolFolderOptions.parse({ path: 'tools' })),
    source: root,
    placeOf: (name) => ({ file: schemaOfTool(name), line: 2 }),
    whenAway: 'refused',
    offer(...names) {
      rmSync(root, { recursive: true, force: true });
      for (const name of names) writeToolFolder(root, name, { handler: `${HANDLER}// ${SECRET}\n` });
    },
    spoil() {
      writeToolFolder(root, 'one', { schema: schemaOf('one', { timeoutMs: 'soon', colour: 'red' }) });
      writeToolFolder(root, 'two', {
        doc: `# two\n\n## Summary\n\n${SECRET}\n`,
        handler: 'export const x = 1;\n',
      });
      return [
        { file: schemaOfTool('one'), path: 'timeout_ms' },
        { file: schemaOfTool('one'), path: 'colour' },
        { file: join(root, 'two', 'doc.md'), line: 6 },
        { file: join(root, 'two', 'handler.js'), line: 1 },
      ];
    },
    goAway: () => rmSync(root, { recursive: true }),
    hang: () => undefined,
    asked: async () => undefined,
    secret: SECRET,
    held: () => 0,
    close: () => removeDir(dir),
  };
}

async function http(): Promise<LoaderHarness> {
  const dirs: string[] = [];
  let body = '';
  const source = await new Source().start((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/yaml' }).end(body),
  );
  const client = new UndiciHttpClient();
  const file = `${source.origin}/tools.yaml`;
  return {
    open(needs) {
      const dir = tempDir();
      dirs.push(dir);
      const said = { url: `${file}?key=${SECRET}`, auth: { type: 'bearer', token: SECRET }, ...LOOPBACK };
      const ports = { ...needs, http: client, configDir: dir, dataDir: join(dir, 'data') };
      return httpLoader.create(ports)(httpOptions.parse(said));
    },
    source: file,
    placeOf: (name) => ({ file, line: toolLine(body, name) }),
    whenAway: 'warned',
    offer(...names) {
      source.mode = 'answers';
      body = document(...names.map((name) => httpTool(name)));
    },
    spoil() {
      body = WRONG;
      return wrongPlaces(file);
    },
    goAway: () => void (source.mode = 'away'),
    hang: () => source.hang(),
    asked: () => source.asked(),
    secret: SECRET,
    held: () => 0,
    async close() {
      await source.close();
      await client.close();
      dirs.forEach(removeDir);
    },
  };
}

/** An API with one operation for each name; `more` stands in each operation. */
function apiOf(names: readonly string[], more: object = {}): string {
  const paths = names.map((name) => [`/${name}`, { get: { operationId: name, ...more } }] as const);
  const servers = [{ url: 'https://api.example.com' }];
  const api = {
    openapi: '3.0.3',
    info: { title: 'T', version: '1' },
    servers,
    paths: Object.fromEntries(paths),
  };
  return JSON.stringify(api, undefined, 1);
}

/** Operations that cannot be tools: what they need is no JSON. */
const NO_TOOLS = apiOf(['one', 'two'], {
  requestBody: { required: true, content: { 'text/plain': { schema: { type: 'string' } } } },
});
const operationPlace = (text: string, file: string, name: string): SourcePlace => ({
  file,
  line: lineOf(text, `"operationId": "${name}"`) - 1,
});

async function openApiByUrl(): Promise<LoaderHarness> {
  let body = '';
  const source = await new Source().start((_request, response) => response.end(body));
  const client = new UndiciHttpClient();
  const file = `${source.origin}/api.json`;
  return {
    open: (needs) =>
      openApiLoader.create({ ...needs, http: client, configDir: '/nowhere' })(
        openApiOptions.parse({ document: { url: `${file}?key=${SECRET}`, ...LOOPBACK }, strict: true }),
      ),
    source: file,
    placeOf: (name) => operationPlace(body, file, name),
    whenAway: 'warned',
    offer(...names) {
      source.mode = 'answers';
      body = apiOf(names);
    },
    spoil() {
      body = NO_TOOLS;
      return ['one', 'two'].map((name) => operationPlace(body, file, name));
    },
    goAway: () => void (source.mode = 'away'),
    hang: () => source.hang(),
    asked: () => source.asked(),
    secret: SECRET,
    held: () => 0,
    async close() {
      await source.close();
      await client.close();
    },
  };
}

async function openApiFile(): Promise<LoaderHarness> {
  const dir = tempDir();
  const file = join(dir, 'api.json');
  let body = '';
  const write = (text: string) => writeFileSync(file, (body = text));
  const client = new UndiciHttpClient();
  process.env['UTE_TEST_LOADER_SECRET'] = SECRET;
  return {
    open: (needs) =>
      openApiLoader.create({ ...needs, http: client, configDir: dir })(
        openApiOptions.parse({ document: 'api.json', strict: true }),
      ),
    source: file,
    placeOf: (name) => operationPlace(body, file, name),
    whenAway: 'refused',
    offer: (...names) => write(apiOf(names)),
    spoil() {
      write(NO_TOOLS.replace('"T"', '"${env:UTE_TEST_LOADER_SECRET}"'));
      return ['one', 'two'].map((name) => operationPlace(body, file, name));
    },
    goAway: () => rmSync(file),
    hang: () => undefined,
    asked: async () => undefined,
    secret: SECRET,
    held: () => 0,
    async close() {
      delete process.env['UTE_TEST_LOADER_SECRET'];
      await client.close();
      removeDir(dir);
    },
  };
}

async function pythonModule(): Promise<LoaderHarness> {
  const modules = new PythonModules();
  const sandbox = new SandboxBench();
  const running = new Set<ChildProcess>();
  let started = Promise.withResolvers<void>();
  const spawner = {
    async spawn(request: Parameters<typeof sandbox.spawner.spawn>[0]) {
      const child = await sandbox.spawner.spawn(request);
      running.add(child);
      void child.exited.finally(() => running.delete(child));
      started.resolve();
      return child;
    },
  };
  const file = join(modules.dir, 'mod.py');
  process.env['UTE_TEST_LOADER_SECRET'] = SECRET;
  let text = '';
  const write = (lines: readonly string[]) => {
    text = [
      'from unified_tools import tool',
      'import os, sys',
      'print(os.environ, file=sys.stderr)',
      ...lines,
    ].join('\n');
    modules.write('mod.py', text);
  };
  const toolOf = (name: string, args = '') => [
    `@tool(name="${name}", read_only=True)`,
    `def ${name}(${args}):`,
    `    """Does ${name}."""`,
  ];
  return {
    open: (needs) =>
      pythonModuleLoader.create({ ...needs, spawner, configDir: modules.dir })(
        pythonOptions.parse({ modules: ['mod'], paths: ['.'] }),
      ),
    source: modules.dir,
    placeOf: (name) => ({ file, line: lineOf(text, `@tool(name="${name}"`) }),
    whenAway: 'refused',
    offer: (...names) => write(names.flatMap((name) => toolOf(name))),
    spoil() {
      write([...toolOf('one', 'a: complex'), ...toolOf('two', 'b, /')]);
      return ['one', 'two'].map((name) => ({ file, line: lineOf(text, `@tool(name="${name}"`) }));
    },
    goAway: () => modules.remove(),
    hang() {
      started = Promise.withResolvers();
      write(['import time', 'time.sleep(600)']);
    },
    asked: () => started.promise,
    secret: SECRET,
    held: () => running.size,
    async close() {
      delete process.env['UTE_TEST_LOADER_SECRET'];
      modules.remove();
      await sandbox.close();
    },
  };
}

async function mcpServer(): Promise<LoaderHarness> {
  let names: readonly string[] = [];
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'files', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({
      tools: names.map((name) => ({
        name,
        description: `Does ${name}.`,
        inputSchema: { type: 'object' as const },
      })),
      ttlMs: 60_000,
      cacheScope: 'private',
    }));
    return server;
  });
  const node = toNodeHandler(handler);
  const source = await new Source().start((request, response) => node(request, response));
  const client = new UndiciHttpClient();
  const file = 'mcp-server:files';
  const spawner = { spawn: () => Promise.reject(new Error('nothing is started here')) };
  const packages = { ready: () => Promise.reject(new Error('nothing is installed here')) };
  return {
    open(needs) {
      const said = {
        name: 'files',
        prefix: '',
        url: '${env:UTE_TEST_MCP_URL}',
        auth: { type: 'bearer', token: '${env:UTE_TEST_MCP_TOKEN}' },
        ...LOOPBACK,
      };
      const mcpServers = new SdkMcpServers({ ...needs, spawner, packages, http: client });
      const trustedDefinitions = new MemoryTrustedDefinitions(needs);
      return mcpServerLoader.create({ ...needs, mcpServers, trustedDefinitions, configDir: '/nowhere' })(
        mcpOptions.parse(said),
      );
    },
    source: file,
    placeOf: () => ({ file }),
    whenAway: 'warned',
    offer(...offered) {
      process.env['UTE_TEST_MCP_URL'] = `${source.origin}/mcp?key=${SECRET}`;
      process.env['UTE_TEST_MCP_TOKEN'] = SECRET;
      source.mode = 'answers';
      names = offered;
    },
    // What a server says is never refused as a whole: tools that are wrong are left out. Its entry is what can be wrong.
    spoil() {
      delete process.env['UTE_TEST_MCP_URL'];
      delete process.env['UTE_TEST_MCP_TOKEN'];
      return [
        { file, path: 'url' },
        { file, path: 'auth.token' },
      ];
    },
    goAway: () => void (source.mode = 'away'),
    hang: () => source.hang(),
    asked: () => source.asked(),
    secret: SECRET,
    held: ({ metrics }) =>
      [...metrics.values].reduce(
        (sum, [name, value]) => (name.startsWith('ute_mcp_connections{') ? sum + value : sum),
        0,
      ),
    async close() {
      delete process.env['UTE_TEST_MCP_URL'];
      delete process.env['UTE_TEST_MCP_TOKEN'];
      await source.close();
      await client.close();
    },
  };
}

async function postgres(): Promise<LoaderHarness> {
  const server = await startPostgres();
  let state: 'runs' | 'stands' | 'gone' = 'runs';
  const url = server.url().replace('@', `:${SECRET}@`);
  const settings = { kind: 'postgres', url, poolSize: 3, ssl: 'disable', migrate: true } as const;
  const database = new GatewayDatabase(settings, { clock: new SystemClock(), log: quietLog });
  const { db } = await database.opened();
  const store = new SqlSpecStore(db);
  const who = { by: 'key1', note: 'test' };
  async function put(name: string): Promise<void> {
    const spec = { name, description: `Does ${name}`, tool_type: 'http' };
    const document = { ...spec, implementation_config: { url: `https://api.example.com/${name}` } };
    const contentHash = canonicalHash(document);
    const kept = { source: 'database', baseDir: '', createdBy: 'key1', note: 'test' } as const;
    const version = { name, contentHash, version: '1.0.0', document, ...kept };
    await store.commit({ action: 'put', name, contentHash, version, ...who });
  }
  async function serving(): Promise<void> {
    if (state === 'stands') server.resume();
    if (state === 'gone') await server.restart();
    state = 'runs';
  }
  const placeOf = (name: string) => ({ file: `database:${name}` });
  return {
    open: (needs) =>
      postgresLoader.create({ ...needs, specs: store, configDir: '/nowhere' })(postgresOptions.parse({})),
    source: 'database',
    placeOf,
    whenAway: 'warned',
    async offer(...names) {
      await serving();
      const { heads } = await store.heads();
      for (const { name, contentHash, enabled } of heads)
        if (enabled && !names.includes(name))
          await store.commit({ action: 'disable', name, contentHash, ...who });
      for (const name of names) await put(name);
    },
    // As somebody does who changes rows by hand.
    async spoil() {
      for (const name of ['one', 'two']) {
        await server.sql(
          `INSERT INTO tool_versions (name, content_hash, version, document, source, base_dir, created_by, note)
           VALUES ($1, 'broken', '1.0.0', $2, 'database', '', '', '') ON CONFLICT DO NOTHING`,
          [name, JSON.stringify({ name, tool_type: 'http' })],
        );
        await server.sql(
          `UPDATE tool_heads SET content_hash = 'broken', enabled = true, revision = revision + 1 WHERE name = $1`,
          [name],
        );
      }
      return ['one', 'two'].map(placeOf);
    },
    async goAway() {
      state = 'gone';
      await server.kill();
    },
    hang() {
      state = 'stands';
      server.pause();
    },
    asked: async () => undefined,
    secret: SECRET,
    held: () => 0,
    async close() {
      await serving();
      await database.close();
      await server.stop();
    },
  };
}

const HARNESSES: Readonly<Record<string, () => Promise<LoaderHarness>>> = {
  'yaml-file': yamlFile,
  http,
  'openapi: by URL': openApiByUrl,
  'openapi: a file': openApiFile,
  'python-module': pythonModule,
  'grpc: a file': grpcFile,
  'grpc: by reflection': grpcReflected,
  'mcp-server': mcpServer,
  pack,
  'tool-folder': toolFolder,
  postgres,
};

it('every loader is held to the suite', () => {
  const held = new Set(Object.keys(HARNESSES).map((name) => name.split(':', 1)[0]));
  expect(held).toEqual(new Set(LOADERS.map(({ name }) => name)));
});

for (const [name, factory] of Object.entries(HARNESSES)) describeLoader(name, factory);
