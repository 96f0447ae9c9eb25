// One look of `ute top` as text: a line about the gateway, one about what it uses, and a table of calls.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { printable, table } from '../table.ts';

export interface Frame {
  /** As /v1/admin/status answers. */
  readonly status: JsonObject;
  /** As /v1/admin/running-calls answers. */
  readonly running: JsonObject & { calls: JsonObject[] };
}

const HEAD = ['CALL', 'TOOL', 'TENANT', 'AGENT', 'DOOR', 'STATE', 'TRY', 'AGE', 'LEFT'] as const;
const MOST_ROWS = 40;

/** `before`: the look before this one, for what is counted from the start on. */
export function frameOf({ status, running }: Frame, before?: Frame): string {
  const { calls } = running;
  const rest = calls.length > MOST_ROWS ? `and ${calls.length - MOST_ROWS} more\n` : '';
  return [
    `${headline(status)}\n${usage(status, before?.status)}\n`,
    calls.length === 0 ? 'no call runs\n' : table(HEAD, calls.slice(0, MOST_ROWS).map(rowOf)),
    rest,
  ].join('');
}

function headline(status: JsonObject): string {
  const troubles = Object.entries(at(status, 'parts') ?? {})
    .filter(([, part]) => at(part, 'state') !== 'ok')
    .map(([name, part]) => `${printable(name)} ${text(at(part, 'state'))}`);
  const state = [text(status['status']), ...troubles].join(', ');
  return `gateway ${text(status['version'])}  replica ${text(status['replica'])}  up ${age(number(status['uptime_s']) * 1_000)}  ${state}`;
}

function usage(status: JsonObject, before: JsonObject | undefined): string {
  const running = number(at(at(status, 'calls'), 'running'));
  const memory = number(at(at(status, 'memory'), 'rss_bytes')) / 1e6;
  const lag = number(status['event_loop_lag_ms']);
  const tools = number(at(at(status, 'registry'), 'tools'));
  return `running ${running}  processor ${processor(status, before)} %  memory ${memory.toFixed(0)} MB  event loop ${lag.toFixed(1)} ms late  tools ${tools}`;
}

/** Per cent of one core, since the look before, or since the start. Another replica may have answered then. */
function processor(status: JsonObject, before: JsonObject | undefined): string {
  const since = before?.['replica'] === status['replica'] ? before : undefined;
  const spent = cpu(status) - cpu(since);
  const elapsed = number(status['uptime_s']) - number(since?.['uptime_s']);
  return elapsed <= 0 ? '-' : ((100 * spent) / elapsed).toFixed(0);
}

function cpu(status: JsonObject | undefined): number {
  const used = at(status, 'cpu');
  return number(at(used, 'user_s')) + number(at(used, 'system_s'));
}

function rowOf(call: JsonObject): readonly string[] {
  return [
    ...['call_id', 'tool', 'tenant', 'agent', 'door', 'state', 'attempts'].map((name) => text(call[name])),
    age(number(call['age_ms'])),
    age(number(call['remaining_ms'])),
  ];
}

function age(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A member of an object, or of nothing. */
function at(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function number(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? printable(String(value)) : '';
}
