// Settings as a bug report may show them: what could be a secret, or name somebody's machine to the world, is left out.
import type { JsonValue } from '../../contract/json.ts';

const HIDDEN = '[hidden]';

/**
 * Anywhere in a name: loaders, executors and extensions have settings of their own, which are called as they like. A hash of a key is
 * one of them, and so is what a header, an argument of a program or a query carries.
 */
const SECRET_NAME =
  /key|token|pass|pwd|secret|sha256|hash|cookie|authorization|bearer|jwt|signature|header|pem|credential|env|dsn|connection_string|query|params|args|arguments|command|user|role_id|basic|^value$/i;
/** What names a file, or says how long or how many, is none. */
const HARMLESS_NAME = /_(?:file|path|paths|s|ms|bytes|size)$/i;
/** Of the settings themselves `auth` says who may do what; further in it says how to log in elsewhere. */
const LOGIN_NAME = /auth/i;
const HOST_NAME = /hosts?$/i;
const OWN_HOST = /^(?:localhost|127\.[\d.]+|0\.0\.0\.0|\[?::1?\]?)$/;
const LOOKS_SECRET = /(?:pass|pwd|secret|token|key)[\w-]*\s*[=:]|^\s*(?:bearer|basic)\s/i;

export interface Shown {
  readonly value: JsonValue;
  /** What was left out, for a search of the rest of the report. */
  readonly secrets: readonly string[];
}

export function shownSettings(settings: unknown): Shown {
  const secrets: string[] = [];
  return { value: shown(settings, secrets, 0) ?? null, secrets };
}

function shown(value: unknown, secrets: string[], depth: number): JsonValue | undefined {
  if (typeof value === 'string') return shownText(value, secrets);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => shown(each, secrets, depth + 1) ?? null);
  if (typeof value !== 'object' || value === undefined) return undefined;
  const entries = Object.entries(value).flatMap(([name, each]): [string, JsonValue][] => {
    const said = isHidden(name, depth)
      ? hidden(name, each, secrets, depth)
      : HOST_NAME.test(name)
        ? hosts(each, secrets)
        : shown(each, secrets, depth + 1);
    return said === undefined ? [] : [[name, said]];
  });
  return Object.fromEntries(entries);
}

function isHidden(name: string, depth: number): boolean {
  if (depth > 0 && LOGIN_NAME.test(name)) return true;
  // The group of settings has the name of what it holds.
  if (depth === 0 && name === 'secrets') return false;
  return SECRET_NAME.test(name) && !HARMLESS_NAME.test(name);
}

/** A list of keys keeps its form: how many there are, and for which tenants, is what a report is read for. */
function hidden(name: string, value: unknown, secrets: string[], depth: number): JsonValue | undefined {
  if (value === undefined) return undefined;
  const isList = name === 'keys' && Array.isArray(value) && value.every(isPlain);
  return isList ? shown(value, secrets, depth) : collected(value, secrets);
}

function isPlain(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hosts(value: unknown, secrets: string[]): JsonValue | undefined {
  if (typeof value === 'string') return OWN_HOST.test(value) ? value : collected(value, secrets);
  if (Array.isArray(value)) return value.map((each) => hosts(each, secrets) ?? null);
  return value === undefined ? undefined : collected(value, secrets);
}

/** Also what stands between the colons and commas of a list of keys. */
function collected(value: unknown, secrets: string[]): JsonValue {
  for (const text of textsOf(value))
    secrets.push(text, ...text.split(/[\s,:;=]+/).filter((part) => part.length >= LONG));
  return HIDDEN;
}

/** A shorter part may be a word. */
const LONG = 12;

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

/** Of a URL the scheme, the host's port and no more: passwords stand in it, tokens in its path and its query. */
function shownText(text: string, secrets: string[]): string {
  if (!/\/\/|@/.test(text)) return LOOKS_SECRET.test(text) ? (collected(text, secrets) as string) : text;
  const url = text.includes('://') ? URL.parse(text) : null;
  if (url === null) return collected(text, secrets) as string;
  const path = url.pathname.split('/').filter((part) => part.length >= LONG);
  const host = OWN_HOST.test(url.hostname) ? '' : url.hostname;
  const parts = [url.password, url.username, host, ...path, url.hash.slice(1)].map(decoded);
  // What a query holds is decoded already.
  for (const part of [...parts, ...url.searchParams.values()]) if (part !== '') secrets.push(part);
  return `${url.protocol}//${HIDDEN}${url.port === '' ? '' : `:${url.port}`}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
