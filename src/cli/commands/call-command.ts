// `ute call`: calls one tool of a running gateway and prints the envelope.
import type { Command } from 'commander';
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import { addContextField, contextBody, milliseconds, readArguments } from '../arguments.ts';
import type { CliIo } from '../cli-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { asEnvelope } from '../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../gateway/gateway-client.ts';

interface CallOptions extends GatewayOptions {
  readonly context: ReadonlyMap<string, string>;
  readonly timeoutMs?: string;
  readonly token?: string;
  readonly json?: true;
}

export function addCallCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  withGatewayOptions(program.command('call <tool> [arguments]'))
    .summary('call a tool and print the envelope')
    .description(
      'Calls a tool. Arguments are a JSON object, @file, or - for standard input.\n' +
        'Ends with 0 when ok, 3 when the envelope says no, 4 when an approval is needed.',
    )
    .option('--timeout-ms <ms>', 'how long to wait for the answer', milliseconds)
    .option(
      '--context <key=value>',
      'a field of the context, such as session_id=s-1 or dry_run=true; may be repeated',
      addContextField,
      new Map(),
    )
    .option('--token <confirmation>', 'redeems an approval of exactly this call')
    .option('--json', 'print the envelope on one line')
    .action(async (tool: string, written: string | undefined, options: CallOptions) => {
      finish(await call(tool, written, options, io));
    });
}

async function call(
  tool: string,
  written: string | undefined,
  options: CallOptions,
  io: CliIo,
): Promise<ExitCode> {
  const request = { arguments: await readArguments(written, io), context: contextOf(options) };
  const gateway = await GatewayClient.open(options, io);
  const headers: { [name: string]: string } =
    options.timeoutMs === undefined ? {} : { 'x-request-timeout-ms': options.timeoutMs };
  const path = `/v1/tools/${encodeURIComponent(tool)}/execute`;
  const envelope = asEnvelope(await gateway.post(path, JSON.stringify(request), headers));
  io.stdout(`${JSON.stringify(envelope, null, options.json ? 0 : 2)}\n`);
  return exitCodeOf(envelope);
}

function contextOf({ context, token }: CallOptions): JsonObject {
  const fields = contextBody(context);
  return token === undefined ? fields : { ...fields, confirmation_token: token };
}

function exitCodeOf(envelope: JsonObject): ExitCode {
  if (envelope['ok'] === true) return EXIT.ok;
  const { error } = envelope;
  const needsApproval = isJsonObject(error) && error['type'] === 'CONFIRMATION_REQUIRED';
  return needsApproval ? EXIT.approvalNeeded : EXIT.refused;
}
