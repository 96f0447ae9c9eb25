// JSON values as bytes: where one ends, and which number it is, without a string being made of it.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const OPENING: ReadonlySet<number | undefined> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number | undefined> = new Set([0x5d, 0x7d]);
/** What may stand in a number. */
const NUMERIC = new Uint8Array(256);
for (const byte of Buffer.from('0123456789+-.e')) NUMERIC[byte] = 1;
/** What stands in a string for itself, as one byte of ASCII. */
const PLAIN = new Uint8Array(256);
for (let byte = 0x20; byte < 0x7f; byte += 1) PLAIN[byte] = byte === QUOTE || byte === BACKSLASH ? 0 : 1;
/** So many digits are a whole number that is exact, and so is the power of ten that it may be divided by. */
const MOST_DIGITS = 15;
/** Smaller ones are written with an exponent. */
const LEAST = 1e-6;
const POWERS = Array.from({ length: MOST_DIGITS + 1 }, (_, power) => 10 ** power);

/** Just behind the string that begins there, if it has nothing but plain ASCII in it; 0 otherwise. */
export function plainStringEnd(bytes: Buffer, start: number): number {
  if (bytes[start] !== QUOTE) return 0;
  let at = start + 1;
  while (PLAIN[bytes[at] as number] === 1) at += 1;
  return bytes[at] === QUOTE ? at + 1 : 0;
}

/** Just behind whatever value begins there, or behind what may be one: JSON.parse is to say whether it is. */
export function jsonEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  let at = start;
  do {
    if (OPENING.has(bytes[at])) depth += 1;
    else if (CLOSING.has(bytes[at])) depth -= 1;
    at = bytes[at] === QUOTE ? stringEnd(bytes, at) : at + 1;
  } while (depth > 0 && at < bytes.length);
  return at;
}

/** Just behind the string that begins there. */
function stringEnd(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

export function numberEnd(bytes: Buffer, start: number): number {
  let at = start;
  while (NUMERIC[bytes[at] as number] === 1) at += 1;
  return at;
}

/** NaN of anything but a number as JavaScript, and so canonical JSON, writes it. */
export function numberAt(bytes: Buffer, start: number, end: number): number {
  let digits = 0;
  let point = end;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte === DOT && point === end && at > start) point = at;
    else if (byte >= ZERO && byte <= NINE) digits = 10 * digits + byte - ZERO;
    else return writtenNumber(bytes, start, end);
  }
  const isShort = end - start > 0 && end - start <= MOST_DIGITS;
  // Such as 007 and 1.50.
  const isUsual = (bytes[start] !== ZERO || point <= start + 1) && (point === end || bytes[end - 1] !== ZERO);
  if (!isShort || !isUsual || point === end - 1) return writtenNumber(bytes, start, end);
  const value = point === end ? digits : digits / (POWERS[end - point - 1] as number);
  return value < LEAST ? writtenNumber(bytes, start, end) : value;
}

function writtenNumber(bytes: Buffer, start: number, end: number): number {
  const text = bytes.toString('latin1', start, end);
  const value = Number(text);
  return String(value) === text ? value : Number.NaN;
}
