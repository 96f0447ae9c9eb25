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

/** Of the forms that are sent, of all secrets together: each is looked for in ten encodings of its own. */
const MAX_SENT_LENGTH = 16_384;

export interface SecretForms {
  /** Looked for in the text as it is. */
  readonly plain: ReadonlySet<string>;
  /** Looked for in the text with all its escapes undone. */
  readonly unescaped: ReadonlySet<string>;
  /** True if a number could hold one. */
  readonly numeric: boolean;
}

/** Gives way after each form that takes long to make. */
export function* formsOf(secrets: readonly string[]): Generator<void, SecretForms> {
  const seen = new Set<string>();
  const plain = new Set<string>();
  const unescaped = new Set<string>();
  let numeric = false;
  let length = 0;
  let sentLength = 0;
  for (const secret of secrets) {
    if (secret.length < MIN_LENGTH || seen.has(secret)) continue;
    seen.add(secret);
    length += secret.length;
    numeric ||= /^[\d.eE+-]+$/.test(secret);
    for (const form of [secret, ...jsonForms(secret)]) plain.add(form);
    if (length <= MAX_ENCODED_LENGTH) {
      addEscaped(secret, plain);
      addUnits(secret, unescaped);
      yield* addBytes(secret, plain, unescaped);
    }
    for (const sent of length <= MAX_ENCODED_LENGTH ? sentForms(secret) : []) {
      if (sentLength + sent.length > MAX_SENT_LENGTH) continue;
      sentLength += sent.length;
      yield* addBytes(sent, plain, unescaped);
    }
    yield;
  }
  return { plain, unescaped, numeric };
}

function addEscaped(secret: string, plain: Set<string>): void {
  for (const form of [...percentForms(Buffer.from(secret, 'utf8')), ...htmlForms(secret)]) plain.add(form);
}

/** As its bytes are written in hexadecimal and base64. */
function* addBytes(text: string, plain: Set<string>, unescaped: Set<string>): Generator<void, void> {
  const bytes = Buffer.from(text, 'utf8');
  const hex = bytes.toString('hex');
  plain.add(hex).add(hex.toUpperCase());
  for (const form of base64Forms(bytes)) {
    yield;
    plain.add(form);
    addUnits(form, unescaped);
  }
}

function addUnits(text: string, unescaped: Set<string>): void {
  for (const form of plainUnits(text)) if (form.length >= MIN_LENGTH) unescaped.add(form);
}

/**
 * As the gateway itself writes it, where that is not the secret as it is: whoever encodes what was sent to it encodes these.
 * A value of a query, alone and in a URL; a part of a URL that brought its own slashes, in the path and in the query; the
 * Basic credentials of an OAuth client (RFC 6749), which are base64 themselves; a form; a body of JSON.
 */
function sentForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const component = percentEncoded(bytes, COMPONENT);
  const forms = [
    component,
    component.replaceAll("'", '%27'),
    percentEncoded(bytes, /[!#-;=?-\]_a-z|~]/),
    percentEncoded(bytes, /[!#-&(-;=?-~]/),
    percentEncoded(bytes, /[A-Za-z0-9]/).replaceAll('%20', '+'),
    percentEncoded(bytes, /[A-Za-z0-9*_.-]/).replaceAll('%20', '+'),
    insideQuotes(secret),
  ];
  return [...new Set(forms)].filter((form) => form !== secret);
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

/** What encodeURIComponent leaves as it is. */
const COMPONENT = /[A-Za-z0-9_.!~*'()-]/;

/** As encodeURIComponent, RFC 3986 and HTML forms write it, in both cases. */
function percentForms(bytes: Buffer): readonly string[] {
  const component = percentEncoded(bytes, COMPONENT);
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
