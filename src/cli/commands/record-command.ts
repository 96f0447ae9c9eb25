// `ute record`: begins and ends recordings of calls in a running gateway, and brings the file.
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import type { JsonObject } from '../../contract/json.ts';
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../exit-code.ts';
import { accepted, asObject } from '../gateway/gateway-answer.ts';
import {
  GatewayClient,
  reasonOf,
  withGatewayOptions,
  type GatewayOptions,
} from '../gateway/gateway-client.ts';

interface RecordOptions extends GatewayOptions {
  readonly session?: string;
  readonly tenant?: string;
  readonly tool?: readonly string[];
  readonly maxCalls?: number;
  readonly maxBytes?: number;
  readonly ttl?: string;
  readonly stop?: true;
  readonly out?: string;
}

export function addRecordCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  withGatewayOptions(program.command('record <name>'))
    .summary('record calls with their outcomes')
    .description(
      'Begins a recording of the calls that a gateway answers, or ends it with --stop. --out writes it to a file of\n' +
        'JSON lines, which `replay: { file: ... }` in gateway.yaml answers from.',
    )
    .option('--session <id>', 'only calls of this session')
    .option('--tenant <id>', "of another tenant than the credential's own")
    .option('--tool <glob>', 'only tools of such a name; may be repeated', addGlob)
    .option('--max-calls <n>', 'ends it after so many calls', wholeNumber)
    .option('--max-bytes <n>', 'ends it before the file is larger', wholeNumber)
    .option('--ttl <duration>', 'ends it after this time, such as 10m')
    .option('--stop', 'end the recording')
    .option('--out <file>', 'with --stop: write the recording here')
    .action(async (name: string, options: RecordOptions) => finish(await record(name, options, io)));
}

async function record(name: string, options: RecordOptions, io: CliIo): Promise<ExitCode> {
  const { stop, out } = options;
  if (out !== undefined && stop !== true)
    throw new CliFailure(EXIT.usage, '--out needs --stop: the file is whole at its end');
  const gateway = await GatewayClient.open(options, io);
  const path = `/v1/admin/recordings/${encodeURIComponent(name)}`;
  const state =
    stop === true
      ? asObject(await gateway.post(`${path}/stop`, '{}', {}))
      : asObject(await gateway.post('/v1/admin/recordings', JSON.stringify(wishOf(name, options)), {}));
  if (out !== undefined) await write(resolve(io.cwd, out), accepted(await gateway.get(path)));
  io.stdout(`${JSON.stringify(state, null, 2)}\n`);
  return EXIT.ok;
}

function wishOf(name: string, { session, tenant, tool, maxCalls, maxBytes, ttl }: RecordOptions): JsonObject {
  return {
    name,
    ...(session !== undefined && { session_id: session }),
    ...(tenant !== undefined && { tenant_id: tenant }),
    ...(tool !== undefined && { tools: [...tool] }),
    ...(maxCalls !== undefined && { max_calls: maxCalls }),
    ...(maxBytes !== undefined && { max_bytes: maxBytes }),
    ...(ttl !== undefined && { ttl }),
  };
}

/** It holds what callers and tools said: for its owner alone. */
async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600 });
  } catch (error) {
    throw new CliFailure(EXIT.failed, `the recording cannot be written to ${path}: ${reasonOf(error)}`);
  }
}

function addGlob(glob: string, collected: readonly string[] = []): readonly string[] {
  return [...collected, glob];
}

function wholeNumber(written: string): number {
  if (/^[1-9]\d{0,9}$/.test(written)) return Number(written);
  throw new InvalidArgumentError('Expected a whole number above 0.');
}
