// `ute mcp`: a running gateway as an MCP server on standard input and output, for clients that start their servers.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { addContextField, milliseconds } from '../arguments.ts';
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../exit-code.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../gateway/gateway-client.ts';
import { mcpPath, toolsetName } from './export-command.ts';
import { requestsTo } from './gateway-requests.ts';
import { StdioBridge } from './stdio-bridge.ts';

interface McpOptions extends GatewayOptions {
  readonly context: ReadonlyMap<string, string>;
  readonly finishMs: string;
  readonly toolset?: string;
}

export function addMcpCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  withGatewayOptions(program.command('mcp'))
    .summary('serve the tools of a gateway over standard input and output')
    .description(
      'Forwards the Model Context Protocol from standard input and output to a running gateway, for clients that\n' +
        'start their servers. Ends when standard input does and what was asked is answered.',
    )
    .option(
      '--context <key=value>',
      'agent_id, user_id, session_id, mode or language of every call; may be repeated',
      addContextField,
      new Map(),
    )
    .option('--toolset <name>', 'the tools of this toolset alone', toolsetName)
    .option(
      '--finish-ms <ms>',
      'how long to wait for answers once standard input has ended; what is late is cancelled and answered with an error',
      milliseconds,
      '30000',
    )
    .action(async (options: McpOptions) => {
      finish(await serve(options, io));
    });
}

async function serve(options: McpOptions, io: CliIo): Promise<ExitCode> {
  const { stdin } = io;
  if (stdin === undefined) throw new CliFailure(EXIT.usage, 'ute mcp needs standard input');
  const gateway = await GatewayClient.open(options, io);
  const door = gateway.target(mcpPath(options.toolset), Object.fromEntries(options.context));
  const bridge = new StdioBridge({
    request: requestsTo(door),
    write: (message) => io.stdout(`${message}\n`),
    warn: (text) => io.stderr(`ute mcp: ${text}\n`),
    clock: { after: afterMs },
    random: Math.random,
  });
  const lines = createInterface({ input: stdin, crlfDelay: Infinity });
  lines.on('line', (line) => void bridge.take(line));
  await once(lines, 'close');
  await bridge.finish(Number(options.finishMs));
  return EXIT.ok;
}

function afterMs(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
}
