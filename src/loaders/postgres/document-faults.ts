// What a definition out of the database may not say, beside what no tool may: gateway.yaml decides what it has access to.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { openedBy } from '../../lib/egress/opened-by.ts';
import type { PostgresLoaderOptions } from './options.ts';

export interface DocumentFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

type Rules = Pick<PostgresLoaderOptions, 'tool_types' | 'connections'>;

const MOST_FAULTS = 50;

export function documentFaults(document: JsonObject, rules: Rules): readonly DocumentFault[] {
  return [...typeFaults(document, rules), ...connectionFaults(document, rules), ...openedRanges(document)];
}

function typeFaults(
  { tool_type: type }: JsonObject,
  { tool_types: allowed }: Rules,
): readonly DocumentFault[] {
  if (typeof type !== 'string') return [];
  // The older word for shell must not go past a list that does not name it.
  const named = type === 'sandbox' ? 'shell' : type;
  if (allowed.includes(named)) return [];
  const message = `a tool of type "${named.slice(0, 64)}" may not be kept in the database: its loader allows ${allowed.join(', ')} under tool_types`;
  return [{ path: ['tool_type'], message }];
}

function connectionFaults(
  { implementation_config: config }: JsonObject,
  { connections: allowed }: Rules,
): readonly DocumentFault[] {
  const name = isJsonObject(config) ? config['connection'] : undefined;
  if (typeof name !== 'string' || allowed.includes('*') || allowed.includes(name)) return [];
  const message = `the connection "${name.slice(0, 128)}" may not be used by tools of the database: name it in the loader under connections`;
  return [{ path: ['implementation_config', 'connection'], message }];
}

interface Open {
  readonly value: JsonValue;
  readonly path: readonly (string | number)[];
}

/** Settings that open something, anywhere in the options; a parameter in a schema may have their names. Without recursion: it may be deep. */
function openedRanges({ implementation_config: config }: JsonObject): readonly DocumentFault[] {
  const faults: DocumentFault[] = [];
  const open: Open[] = [{ value: config ?? null, path: ['implementation_config'] }];
  for (let next = open.pop(); next !== undefined && faults.length < MOST_FAULTS; next = open.pop()) {
    const { value, path } = next;
    const opened = openedBy(String(path.at(-1)), value);
    if (opened !== undefined) {
      const message = `a tool of the database may not open ${opened}: gateway.yaml may, under executors`;
      faults.push({ path, message });
    }
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, member] of Object.entries(value))
      open.push({ value: member, path: [...path, Array.isArray(value) ? Number(key) : key] });
  }
  return faults;
}
