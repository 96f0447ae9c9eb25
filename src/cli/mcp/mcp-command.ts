// `ute mcp`: a running gateway as an MCP server on standard input and output, for clients that start their servers.
import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { addContextField } from '../arguments.ts';
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../exit-code.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../gateway-client.ts';
import { StdioBridge, type BridgeEnds } from './stdio-bridge.ts';

interface McpOptions extends GatewayOptions {
  readonly context: ReadonlyMap<string, string>;
}

export function addMcpCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  withGatewayOptions(program.command('mcp'))
    .summary('serve the tools of a gateway over standard input and output')
    .description(
      'Forwards the Model Context Protocol from standard input and output to a running gateway, for clients that\n' +
        'start their servers. Ends when standard input does.',
    )
    .option(
      '--context <key=value>',
      'agent_id, user_id, session_id or mode of every call; may be repeated',
      addContextField,
      new Map(),
    )
    .action(async (options: McpOptions) => {
      finish(await serve(options, io));
    });
}

async function serve(options: McpOptions, io: CliIo): Promise<ExitCode> {
  const { stdin } = io;
  if (stdin === undefined) throw new CliFailure(EXIT.usage, 'ute mcp needs standard input');
  const gateway = await GatewayClient.open(options, io);
  const { url, headers } = gateway.target('/mcp', Object.fromEntries(options.context));
  const bridge = new StdioBridge({
    request: requestsTo(url, headers),
    write: (message) => io.stdout(`${message}\n`),
  });
  const lines = createInterface({ input: stdin, crlfDelay: Infinity });
  lines.on('line', (line) => void bridge.take(line));
  await once(lines, 'close');
  bridge.close();
  return EXIT.ok;
}

/** Over connections that are kept, and without a limit of time: the gateway has its own. */
function requestsTo(url: URL, own: { readonly [name: string]: string }): BridgeEnds['request'] {
  const isTls = url.protocol === 'https:';
  const agent = isTls ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const request = isTls ? httpsRequest : httpRequest;
  return async (body, headers, signal) => {
    const accept = body === undefined ? 'text/event-stream' : 'application/json, text/event-stream';
    const method = body === undefined ? 'GET' : 'POST';
    const said = {
      ...own,
      ...headers,
      accept,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const asked = request(url, { method, agent, signal, headers: said });
    // Told where it is waited for; what comes after the answer has begun, by the answer itself.
    asked.on('error', () => undefined);
    asked.end(body);
    try {
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      return response;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`The gateway at ${url.origin} cannot be reached: ${reason}.`, { cause: error });
    }
  };
}
