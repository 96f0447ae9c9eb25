// What the gateway answered, as a bug report may show it: nothing in it names a machine.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { shownSettings } from './shown-settings.ts';

/** Where answers of a gateway name a replica, which is called by its host and a number of its own: that tells replicas apart. */
const REPLICA_NAMES: readonly string[] = ['replica', 'self', 'id'];
const REPLICA = /^(.+)-([0-9a-f]{8})$/s;

export interface ShownAnswers {
  readonly value: JsonObject;
  /** Hosts that were left out, for a search of the rest of the report. */
  readonly hosts: readonly string[];
}

export function shownAnswers(answers: JsonObject): ShownAnswers {
  const hosts: string[] = [];
  const value = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [name, shown(answer, hosts)]),
  );
  return { value, hosts };
}

function shown(value: JsonValue, hosts: string[]): JsonValue {
  if (Array.isArray(value)) return value.map((each) => shown(each, hosts));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, shownMember(name, each, hosts)]),
  );
}

function shownMember(name: string, value: JsonValue, hosts: string[]): JsonValue {
  if (typeof value !== 'string') return shown(value, hosts);
  if (name === 'metrics_url') {
    const url = shownSettings(value);
    hosts.push(...url.secrets);
    return url.value;
  }
  const [, host, own] = (REPLICA_NAMES.includes(name) && REPLICA.exec(value)) || [];
  if (host === undefined) return value;
  hosts.push(host);
  return `[hidden]-${own}`;
}
