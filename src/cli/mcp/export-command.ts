// `ute export mcp.json`: what an MCP client needs to reach a gateway, in the form that Claude's clients and others read. It holds no key.
import { Argument, InvalidArgumentError, type Command } from 'commander';
import type { JsonObject } from '../../contract/json.ts';
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../exit-code.ts';
import { ownGatewayUrl } from '../gateway/own-gateway.ts';

interface ExportOptions {
  readonly url?: string;
  readonly toolset?: string;
  readonly stdio?: true;
}

const TOOLSET = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** Clients put the value of the variable in its place. */
const KEY = '${UTE_API_KEY}';

export function addExportCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  program
    .command('export')
    .summary('print what an MCP client needs to reach the gateway')
    .description(
      'Prints a configuration of MCP clients, with the URL of the gateway and a reference to the key in UTE_API_KEY;\n' +
        'the key itself is never part of it. Asks no gateway.',
    )
    .addArgument(new Argument('<what>', 'what to print').choices(['mcp.json']))
    .option('--url <url>', 'where the gateway is (default: UTE_URL, or what the settings of this folder say)')
    .option('--toolset <name>', 'the tools of this toolset alone', toolsetName)
    .option('--stdio', 'for clients that start their servers: by the command ute mcp')
    .action((_what: string, options: ExportOptions) => {
      io.stdout(`${JSON.stringify(configuration(options, io), null, 2)}\n`);
      finish(EXIT.ok);
    });
}

function configuration({ url, toolset, stdio }: ExportOptions, io: CliIo): JsonObject {
  const base = plainUrl(url ?? (io.env['UTE_URL'] || ownGatewayUrl(io)));
  const args = ['mcp', '--url', base, ...(toolset === undefined ? [] : ['--toolset', toolset])];
  const server: JsonObject =
    stdio === true
      ? { command: 'ute', args, env: { UTE_API_KEY: KEY } }
      : { type: 'http', url: `${base}${mcpPath(toolset)}`, headers: { Authorization: `Bearer ${KEY}` } };
  return { mcpServers: { [toolset ?? 'tools']: server } };
}

/** Of the door, or of one toolset there. */
export function mcpPath(toolset: string | undefined): string {
  return toolset === undefined ? '/mcp' : `/mcp/${toolset}`;
}

/** For commander. */
export function toolsetName(said: string): string {
  if (TOOLSET.test(said)) return said;
  throw new InvalidArgumentError('Expected the name of a toolset.');
}

/** Without a login that somebody wrote into it. */
function plainUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new CliFailure(EXIT.usage, `--url must be an http or https URL, found ${JSON.stringify(text)}`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
