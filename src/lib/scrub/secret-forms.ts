// The forms in which a secret comes back: as it is, and in every encoding that docs/security.md lists.
import { plainUnits } from './unescaper.ts';

/** Shorter values would turn up in innocent text all the time. */
export const MIN_LENGTH = 4;
/** Fewer base64 characters would, too. */
const MIN_BASE64 = 6;
/**
 * Of all secrets together. Whatever goes beyond it, which only the arguments of a call can, is looked for as it is and as
 * JSON has it, but in no other encoding: those are several times as long.
 */
const MAX_ENCODED_LENGTH = 32_768;

export interface SecretForms {
  /** Looked for in the text as it is. */
  readonly plain: ReadonlySet<string>;
  /** Looked for in the text with all its escapes undone. */
  readonly unescaped: ReadonlySet<string>;
  /** True if a number could hold one. */
  readonly numeric: boolean;
}

/** Gives way after each secret. */
export function* formsOf(secrets: readonly string[]): Generator<void, SecretForms> {
  const seen = new Set<string>();
  const plain = new Set<string>();
  const unescaped = new Set<string>();
  let numeric = false;
  let length = 0;
  for (const secret of secrets) {
    if (secret.length < MIN_LENGTH || seen.has(secret)) continue;
    seen.add(secret);
    length += secret.length;
    numeric ||= /^[\d.eE+-]+$/.test(secret);
    for (const form of [secret, ...jsonForms(secret)]) plain.add(form);
    if (length <= MAX_ENCODED_LENGTH) addEncoded(secret, plain, unescaped);
    yield;
  }
  return { plain, unescaped, numeric };
}

function addEncoded(secret: string, plain: Set<string>, unescaped: Set<string>): void {
  const base64 = base64Forms(Buffer.from(secret, 'utf8'));
  for (const form of [...encodedForms(secret), ...base64]) plain.add(form);
  const units = [secret, ...base64].flatMap(plainUnits);
  for (const form of units) if (form.length >= MIN_LENGTH) unescaped.add(form);
}

/** As inside the quotes of JSON: once, with escaped slashes, in ASCII alone, safe for HTML, and as JSON inside JSON. */
function jsonForms(secret: string): readonly string[] {
  const once = insideQuotes(secret);
  return [
    once,
    once.replaceAll('/', '\\/'),
    escapedUnits(once, /[^\0-\x7f]/g),
    escapedUnits(once, /[<>&]/g),
    insideQuotes(once),
  ];
}

function insideQuotes(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapedUnits(text: string, which: RegExp): string {
  return text.replace(which, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function encodedForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  return [...percentForms(bytes), ...htmlForms(secret), hex, hex.toUpperCase()];
}

/** As encodeURIComponent, RFC 3986 and HTML forms write it, in both cases. */
function percentForms(bytes: Buffer): readonly string[] {
  const component = percentEncoded(bytes, /[A-Za-z0-9_.!~*'()-]/);
  const strict = percentEncoded(bytes, /[A-Za-z0-9_.~-]/);
  const upper = [component, strict, strict.replaceAll('%20', '+')];
  return [...upper, ...upper.map((text) => text.replace(/%../g, (code) => code.toLowerCase()))];
}

function percentEncoded(bytes: Buffer, kept: RegExp): string {
  return Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    return kept.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

function htmlForms(secret: string): readonly string[] {
  const named = secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  return [named, named.replaceAll("'", '&#39;'), named.replaceAll("'", '&#x27;')];
}

/**
 * The base64 of a text that holds the secret somewhere has one of three forms, by the secret's place in its group
 * of three bytes. Only the characters that nothing but the secret decides are taken.
 */
function base64Forms(bytes: Buffer): readonly string[] {
  const inside = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * 8) / 6);
    return encoded.slice(first, Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const whole = bytes.toString('base64').replace(/=+$/, '');
  const forms = [whole, ...inside].filter((form) => form.length >= MIN_BASE64);
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}
