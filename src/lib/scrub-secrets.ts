// Scrubs known secrets out of what leaves the gateway, also where they come back escaped, percent-encoded, in
// hexadecimal or inside something written in base64. By value: it needs no idea of where a secret might turn up.

export const SECRET_MARK = '[secret]';

/** Shorter values would turn up in innocent text all the time. */
const MIN_LENGTH = 4;
/** Fewer base64 characters would, too. */
const MIN_BASE64 = 6;

export interface SecretScrubber {
  readonly text: (text: string) => string;
  /** A JSON value with the strings, keys and numbers that hold a secret scrubbed; the same value where there is none. */
  readonly json: <Value>(value: Value) => Value;
}

const NOTHING_TO_SCRUB: SecretScrubber = { text: (text) => text, json: (value) => value };

export function secretScrubber(secrets: readonly string[]): SecretScrubber {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= MIN_LENGTH);
  if (known.length === 0) return NOTHING_TO_SCRUB;
  // The longest first: of two secrets that begin alike, all of the longer one must go.
  known.sort((a, b) => b.length - a.length);
  const pattern = new RegExp(known.flatMap(formsOf).join('|'), 'g');
  const numeric = known.some((secret) => /^[\d.eE+-]+$/.test(secret));
  const text = (input: string): string => input.replace(pattern, SECRET_MARK);
  const json = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number')
      return numeric && text(String(value)) !== String(value) ? SECRET_MARK : value;
    if (Array.isArray(value)) return scrubList(value, json);
    return typeof value === 'object' && value !== null ? scrubObject(value, text, json) : value;
  };
  return { text, json: <Value>(value: Value) => json(value) as Value };
}

function scrubList(list: readonly unknown[], json: (value: unknown) => unknown): readonly unknown[] {
  const scrubbed = list.map(json);
  return scrubbed.every((item, index) => item === list[index]) ? list : scrubbed;
}

function scrubObject(
  value: object,
  text: (text: string) => string,
  json: (value: unknown) => unknown,
): object {
  let changed = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const entry = [text(key), json(item)] as const;
    if (entry[0] !== key || entry[1] !== item) changed = true;
    return entry;
  });
  return changed ? Object.fromEntries(entries) : value;
}

/** Patterns of every form a secret may come back in. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  return [
    textForms(secret),
    Array.from(hex, eitherCase).join(''),
    ...base64Forms(bytes).map((form) => `${fromBase64(form)}[A-Za-z0-9+/_-]{0,2}={0,2}`),
  ];
}

/**
 * The secret as text: each character as it is, percent-encoded (a space also as "+"), or escaped as in JSON, once or
 * twice, or in HTML. Backslashes are counted by the run, with those that escape what follows, so that there is one
 * way alone to match a text: the texts come from outside.
 */
function textForms(secret: string): string {
  const tokens = secret.match(/\\+|[^\\]/gu) ?? [];
  return tokens
    .map((token, at) =>
      token.startsWith('\\')
        ? backslashForms(token.length)
        : charForms(token, tokens[at - 1]?.startsWith('\\') === true),
    )
    .join('');
}

function backslashForms(count: number): string {
  return `(?:\\\\{${count},${4 * count + 4}}|(?:%5[cC]){${count}}|(?:\\\\{1,4}u005[cC]){${count}})`;
}

function charForms(char: string, afterBackslash: boolean): string {
  const percent = Array.from(Buffer.from(char, 'utf8'), (byte) => `%${hexPattern(byte, 2)}`).join('');
  const units = Array.from({ length: char.length }, (_, at) => `u${hexPattern(char.charCodeAt(at), 4)}`);
  const escapable = '"/'.includes(char) && !afterBackslash;
  const forms = [
    `${escapable ? '\\\\{0,4}' : ''}${literal(char)}`,
    percent,
    `${afterBackslash ? '' : '\\\\{1,4}'}${units.join('\\\\{1,4}')}`,
  ];
  const html = HTML_ESCAPES[char];
  if (html !== undefined) forms.push(html);
  if (char === ' ') forms.push('\\+');
  return `(?:${forms.join('|')})`;
}

const HTML_ESCAPES: { readonly [char: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;|&#34;',
  "'": '&#39;|&#x27;|&apos;',
};

/**
 * The base64 of a text that holds the secret somewhere has one of three forms, by the secret's place in its group
 * of three bytes. Only the characters that nothing but the secret decides are taken.
 */
function base64Forms(bytes: Buffer): readonly string[] {
  const inside = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * 8) / 6);
    return encoded.slice(offset === 0 ? 0 : first, Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const whole = bytes.toString('base64').replace(/=+$/, '');
  return [whole, ...inside].filter((form) => form.length >= MIN_BASE64);
}

function fromBase64(form: string): string {
  return form.replace(/[+/]/g, (char) => (char === '+' ? '[+-]' : '[/_]'));
}

function hexPattern(code: number, digits: number): string {
  return Array.from(code.toString(16).padStart(digits, '0'), eitherCase).join('');
}

function eitherCase(digit: string): string {
  return /[a-f]/.test(digit) ? `[${digit}${digit.toUpperCase()}]` : digit;
}

function literal(char: string): string {
  return char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
}
