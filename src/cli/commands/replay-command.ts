// `ute replay`: says what a gateway that replays a recording was asked for, and what not.
import type { Command } from 'commander';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { CliIo } from '../cli-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { asObject } from '../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../gateway/gateway-client.ts';
import { table } from '../table.ts';

interface ReplayOptions extends GatewayOptions {
  readonly rewind?: true;
  readonly json?: true;
}

export function addReplayCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  withGatewayOptions(program.command('replay'))
    .summary('report what a replay was asked for')
    .description(
      'Compares a recording with what the gateway that replays it was asked for.\n' +
        'Ends with 0 when both are the same calls, else with 1.',
    )
    .option('--rewind', 'and begin anew')
    .option('--json', 'print the report as JSON')
    .action(async (options: ReplayOptions) => finish(await replay(options, io)));
}

async function replay(options: ReplayOptions, io: CliIo): Promise<ExitCode> {
  const gateway = await GatewayClient.open(options, io);
  const path = '/v1/admin/replay';
  const report = asObject(
    await (options.rewind === true ? gateway.post(`${path}/rewind`, '{}', {}) : gateway.get(path)),
  );
  io.stdout(options.json === true ? `${JSON.stringify(report, null, 2)}\n` : textOf(report));
  return report['not_asked_count'] === 0 && report['missed'] === 0 ? EXIT.ok : EXIT.failed;
}

function textOf(report: JsonObject): string {
  const { recorded, asked, answered, missed, definitions_changed: changed } = report;
  const lines = [
    `${word(recorded)} recorded, ${word(asked)} asked for: ${word(answered)} answered, ${word(missed)} not recorded\n`,
  ];
  const notAsked = rowsOf(report['not_asked'], ['order', 'tool', 'arguments_hash']);
  if (notAsked.length > 0)
    lines.push('\nrecorded, not asked for:\n', table(['CALL', 'TOOL', 'ARGUMENTS'], notAsked));
  const notRecorded = rowsOf(report['not_recorded'], ['times', 'tool', 'arguments']);
  if (notRecorded.length > 0)
    lines.push('\nasked for, not recorded:\n', table(['TIMES', 'TOOL', 'ARGUMENTS'], notRecorded));
  if (Array.isArray(changed) && changed.length > 0)
    lines.push(`\ndefined otherwise since: ${changed.map(word).join(', ')}\n`);
  return lines.join('');
}

function rowsOf(list: JsonValue | undefined, fields: readonly string[]): readonly (readonly string[])[] {
  const entries = Array.isArray(list) ? list.filter(isJsonObject) : [];
  return entries.map((entry) => fields.map((field) => word(entry[field])));
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
