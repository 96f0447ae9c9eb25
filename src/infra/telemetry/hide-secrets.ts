// hideSecrets: the second net under the log. The first is to name each field and to pass no whole object.
import { stdSerializers } from 'pino';

/** By the end of its name, in any spelling: api_key, X-API-Key, clientSecret, confirmation_token. */
const SECRET_NAME = /(?:authorization|api[-_]?key|token|password|passwd|secret|cookie)$/i;
/** What was found out about names: few of them are new. */
const known = new Map<string, boolean>();
const MOST_KNOWN = 1_000;
const LONGEST_KNOWN = 100;
const HIDDEN = '[hidden]';
const TOO_DEEP = '[too deep]';
const MAX_DEPTH = 6;

type Fields = Readonly<Record<string, unknown>>;

/** The same fields where nothing is to be hidden, else a copy. What lies deeper than anybody would log is cut off. */
export function hideSecrets(fields: Fields): Fields {
  return hiddenInObject(fields, 0);
}

function hidden(value: unknown, depth: number): unknown {
  // JSON has no such number: the whole line would be lost for it.
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return TOO_DEEP;
  if (Array.isArray(value)) return hiddenInList(value, depth);
  // An error may carry what it was made from, headers and all.
  const fields = value instanceof Error ? withoutRows(stdSerializers.err(value)) : value;
  return hiddenInObject(fields as Fields, depth);
}

/** Of a row that it refuses PostgreSQL says beside its message all that stands in it, which may be about a person. */
function withoutRows(error: object): object {
  const isOfPostgres = 'severity' in error && 'routine' in error;
  return isOfPostgres ? { ...error, detail: undefined, where: undefined } : error;
}

function hiddenInObject(fields: Fields, depth: number): Fields {
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const shown = isSecretName(name) ? HIDDEN : hidden(value, depth + 1);
    if (shown === value) continue;
    copy ??= { ...fields };
    copy[name] = shown;
  }
  return copy ?? fields;
}

function isSecretName(name: string): boolean {
  const found = known.get(name);
  if (found !== undefined) return found;
  const isSecret = SECRET_NAME.test(name);
  if (known.size < MOST_KNOWN && name.length <= LONGEST_KNOWN) known.set(name, isSecret);
  return isSecret;
}

function hiddenInList(list: readonly unknown[], depth: number): readonly unknown[] {
  const shown = list.map((item) => hidden(item, depth + 1));
  return shown.some((item, index) => item !== list[index]) ? shown : list;
}
