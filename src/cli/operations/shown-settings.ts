// Settings as a bug report may show them: what could be a secret, or name somebody's machine to the world, is left out.
import type { JsonValue } from '../../contract/json.ts';

const HIDDEN = '[hidden]';

/** By the end of its name: a hash of a key is one of them, and so is what a header carries. */
const SECRET_NAME =
  /(?:key|keys|token|password|passwd|secret|secrets|sha256|hash|cookie|authorization|headers|pem|credentials?|env)$/i;

export interface Shown {
  readonly value: JsonValue;
  /** What was left out, for a search of the rest of the report. */
  readonly secrets: readonly string[];
}

export function shownSettings(settings: unknown): Shown {
  const secrets: string[] = [];
  return { value: shown(settings, secrets) ?? null, secrets };
}

function shown(value: unknown, secrets: string[]): JsonValue | undefined {
  if (typeof value === 'string') return shownText(value, secrets);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => shown(each, secrets) ?? null);
  if (typeof value !== 'object' || value === undefined) return undefined;
  const entries = Object.entries(value).flatMap(([name, each]): [string, JsonValue][] => {
    const said = SECRET_NAME.test(name) ? hidden(each, secrets) : shown(each, secrets);
    return said === undefined ? [] : [[name, said]];
  });
  return Object.fromEntries(entries);
}

/** Objects and lists keep their form: how many keys there are, and for which tenants, is what a report is read for. */
function hidden(value: unknown, secrets: string[]): JsonValue | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'object' && value !== null) {
    const inner = Array.isArray(value) ? value : Object.entries(value);
    return Array.isArray(value) && inner.some((each) => typeof each === 'object')
      ? shown(value, secrets)
      : collected(value, secrets);
  }
  return collected(value, secrets);
}

function collected(value: unknown, secrets: string[]): JsonValue {
  for (const text of textsOf(value)) secrets.push(text);
  return HIDDEN;
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

/** Of a URL the scheme, the host's port and no more: passwords stand in it, and tokens in its query. */
function shownText(text: string, secrets: string[]): string {
  if (!text.includes('://')) return text;
  const url = URL.parse(text);
  if (url === null) return collected(text, secrets) as string;
  for (const part of [url.password, url.username, ...url.searchParams.values()])
    if (part !== '') secrets.push(decoded(part));
  return `${url.protocol}//${HIDDEN}${url.port === '' ? '' : `:${url.port}`}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
