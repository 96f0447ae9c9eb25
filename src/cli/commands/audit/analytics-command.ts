// `ute analytics`: what the calls of a tenant add up to, as a running gateway counts them.
import type { Command } from 'commander';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import type { CliIo } from '../../cli-io.ts';
import { EXIT, type ExitCode } from '../../exit-code.ts';
import { asObject } from '../../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../../gateway/gateway-client.ts';
import { table } from '../../table.ts';

export interface FiguresOptions extends GatewayOptions {
  readonly from?: string;
  readonly to?: string;
  readonly tool?: string;
  readonly agent?: string;
  readonly tenant?: string;
  readonly top?: string;
  readonly json?: true;
}

const FIGURES = ['calls', 'failed', 'unapproved', 'p50_ms', 'p95_ms', 'p99_ms', 'cost'] as const;
const HEAD = ['CALLS', 'FAILED', 'UNAPPROVED', 'P50 MS', 'P95 MS', 'P99 MS', 'COST'] as const;

export function addAnalyticsCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  withFigureOptions(program.command('analytics'))
    .summary('what the calls of a tenant add up to')
    .description(
      'Calls, failures, latency and cost of the tenant of the key, by tool, agent and day; what fails and why, and which tools are never called. Of the last seven days, or of up to 31. The key needs calls:read.',
    )
    .action(async (options: FiguresOptions) => {
      const found = await figuresOf('/v1/analytics', options, io);
      io.stdout(options.json ? `${JSON.stringify(found, null, 2)}\n` : textOf(found));
      finish(EXIT.ok);
    });
}

/** Of whichever figures: whose, of which time, of what. */
export function withFigureOptions(command: Command): Command {
  return withGatewayOptions(command)
    .option('--from <time>', 'only what came in at this time or later, such as 2027-01-31T00:00:00Z')
    .option('--to <time>', 'only what came in before this time')
    .option('--tool <name>', 'only calls of this function')
    .option('--agent <name>', 'only calls made for this agent')
    .option('--tenant <name>', 'whose (default: that of the key that asks)')
    .option('--top <count>', 'most entries of each list, 20 when left out')
    .option('--json', 'print JSON instead of tables');
}

export async function figuresOf(path: string, options: FiguresOptions, io: CliIo): Promise<JsonObject> {
  const { from, to, tool, agent, tenant, top } = options;
  const gateway = await GatewayClient.open(options, io);
  return asObject(await gateway.get(path, { from, to, tool, agent_id: agent, tenant, top }));
}

function textOf(found: JsonObject): string {
  const { tenant, to, counted_from: from, complete, totals, failures, never_called: unused } = found;
  const rows = (of: JsonValue | undefined) => (Array.isArray(of) ? of.filter(isJsonObject) : []);
  const by = (head: string, of: JsonValue | undefined, key: string) =>
    table(
      [head, ...HEAD],
      rows(of).map((row) => [word(row[key]), ...cellsOf(row)]),
    );
  const partial = complete === true ? '' : ' (there were more calls: only the newest are counted)';
  const names = Array.isArray(unused) ? unused.map(word) : [];
  return [
    `calls of ${word(tenant)} from ${word(from)} to ${word(to)}${partial}\n`,
    table(HEAD, isJsonObject(totals) ? [cellsOf(totals)] : []),
    by('TOOL', found['tools'], 'tool'),
    by('AGENT', found['agents'], 'agent_id'),
    by('DAY', found['days'], 'day'),
    table(
      ['FAILED', 'TOOL', 'ERROR', 'REASON'],
      rows(failures).map(({ calls, tool, error_type: type, reason }) =>
        [calls, tool, type, reason].map(word),
      ),
    ),
    table(
      ['NEVER CALLED'],
      names.map((name) => [name]),
    ),
  ].join('\n');
}

function cellsOf(row: JsonObject): readonly string[] {
  return FIGURES.map((name) => word(row[name]));
}

export function word(value: JsonValue | undefined): string {
  if (typeof value === 'number') return String(Math.round(value * 1000) / 1000);
  return typeof value === 'string' ? value : '';
}
