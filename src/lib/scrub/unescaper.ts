// Unescaper: a text as bytes with all its escapes undone, over and over until none is left, and with the place of each
// byte. What was escaped in part, twice, or in several ways at once is thereby the same as what was never escaped.

/** Of one escape, in characters: &#x10ffff; */
const LONGEST = 10;
/** So many bytes wait here at most, for escapes that are made of escapes. */
const WINDOW = 32;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const LETTER_X = 0x78;

const ENTITIES: { readonly [name: string]: number } = {
  amp: 0x26,
  lt: 0x3c,
  gt: 0x3e,
  quot: 0x22,
  apos: 0x27,
};

/** One letter each, as after a backslash. A plus may be a space, and the other way round. */
const LIKE: { readonly [byte: number]: number } = {
  0x08: 0x62,
  0x09: 0x74,
  0x0a: 0x6e,
  0x0c: 0x66,
  0x0d: 0x72,
  0x2b: 0x20,
};

/** `start` and `end` are where it stands in the text, with its escape. */
type Emit = (byte: number, start: number, end: number) => void;

export class Unescaper {
  readonly #emit: Emit;
  readonly #bytes = new Uint8Array(WINDOW);
  readonly #starts = new Float64Array(WINDOW);
  readonly #ends = new Float64Array(WINDOW);
  #size = 0;
  /** Bytes since the last that may open an escape. */
  #sinceOpening = 0;
  /** Where a backslash stands that belongs to what comes next. */
  #escapedFrom: number | undefined;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** Where the first byte stands that was not emitted yet; undefined if all were. */
  get waitingSince(): number | undefined {
    return this.#escapedFrom ?? (this.#size === 0 ? undefined : this.#starts[0]);
  }

  /** A UTF-16 unit of the text. Half a surrogate pair takes three bytes of its own. */
  unit(unit: number, start: number, end: number): void {
    if (unit < 0x80) this.#byte(unit, start, end);
    else if (unit < 0x800) {
      this.#byte(0xc0 | (unit >> 6), start, end);
      this.#byte(0x80 | (unit & 0x3f), start, end);
    } else {
      this.#byte(0xe0 | (unit >> 12), start, end);
      this.#byte(0x80 | ((unit >> 6) & 0x3f), start, end);
      this.#byte(0x80 | (unit & 0x3f), start, end);
    }
  }

  finish(): void {
    this.#settle(this.#size);
  }

  #byte(byte: number, start: number, end: number): void {
    const opens = byte === PERCENT || byte === AMPERSAND || byte === BACKSLASH;
    if (this.#size === 0 && !opens) {
      this.#emit(LIKE[byte] ?? byte, this.#escapedFrom ?? start, end);
      this.#escapedFrom = undefined;
      return;
    }
    if (hexValue(byte) >= 0 && (this.#percent(byte, end) || this.#hexUnit(byte, end))) return;
    if (byte === SEMICOLON && this.#entity(end)) return;
    if (byte === BACKSLASH && this.#size > 0 && this.#bytes[this.#size - 1] === BACKSLASH) return;
    if (this.#size === WINDOW) this.#settle(WINDOW - LONGEST);
    this.#bytes[this.#size] = byte;
    this.#starts[this.#size] = start;
    this.#ends[this.#size] = end;
    this.#size += 1;
    if (opens) this.#sinceOpening = 0;
    else this.#sinceOpening += 1;
    if (this.#sinceOpening > LONGEST || !(opens || maybeEscaped(byte))) this.#settle(this.#size);
  }

  /** %41 */
  #percent(last: number, end: number): boolean {
    const first = this.#size - 2;
    if (first < 0 || this.#bytes[first] !== PERCENT) return false;
    const high = hexValue(this.#bytes[first + 1] as number);
    if (high < 0) return false;
    this.#byte(high * 16 + hexValue(last), this.#dropFrom(first), end);
    return true;
  }

  /** \u0041 and \x41, after any number of backslashes. */
  #hexUnit(last: number, end: number): boolean {
    const first = this.#escapeBefore(LETTER_U, 4) ?? this.#escapeBefore(LETTER_X, 2);
    if (first === undefined) return false;
    let value = 0;
    for (let at = first + 2; at < this.#size; at += 1) {
      const digit = hexValue(this.#bytes[at] as number);
      if (digit < 0) return false;
      value = value * 16 + digit;
    }
    this.unit(value * 16 + hexValue(last), this.#dropFrom(first), end);
    return true;
  }

  #escapeBefore(letter: number, digits: number): number | undefined {
    const first = this.#size - digits - 1;
    return first >= 0 && this.#bytes[first] === BACKSLASH && this.#bytes[first + 1] === letter
      ? first
      : undefined;
  }

  /** &amp; and &#34; and &#x22; */
  #entity(end: number): boolean {
    for (let first = this.#size - 1; first >= Math.max(0, this.#size - LONGEST + 1); first -= 1) {
      if (this.#bytes[first] !== AMPERSAND) continue;
      const name = String.fromCharCode(...this.#bytes.subarray(first + 1, this.#size));
      const code = entityCode(name);
      if (code === undefined) return false;
      const start = this.#dropFrom(first);
      const text = String.fromCodePoint(code);
      for (let at = 0; at < text.length; at += 1) this.unit(text.charCodeAt(at), start, end);
      return true;
    }
    return false;
  }

  #dropFrom(first: number): number {
    this.#size = first;
    // What is left may hold an opening of its own.
    this.#sinceOpening = 0;
    return this.#starts[first] as number;
  }

  #settle(count: number): void {
    for (let at = 0; at < count; at += 1) {
      const byte = this.#bytes[at] as number;
      // An escape that could not be undone: what it escapes is what counts.
      if (byte === BACKSLASH) this.#escapedFrom ??= this.#starts[at];
      else {
        this.#emit(LIKE[byte] ?? byte, this.#escapedFrom ?? (this.#starts[at] as number), this.#ends[at] as number); // oxfmt-ignore
        this.#escapedFrom = undefined;
      }
    }
    this.#bytes.copyWithin(0, count, this.#size);
    this.#starts.copyWithin(0, count, this.#size);
    this.#ends.copyWithin(0, count, this.#size);
    this.#size -= count;
  }
}

/** What a secret becomes by the same reading, as a text of one character a byte: half surrogates each, and as UTF-8. */
export function plainUnits(text: string): readonly string[] {
  const units: number[] = [];
  const each = new Unescaper((byte) => units.push(byte));
  for (let at = 0; at < text.length; at += 1) each.unit(text.charCodeAt(at), at, at + 1);
  each.finish();
  return [...new Set([latin1(units), withPairs(units)])];
}

function latin1(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('latin1');
}

/** Two halves of three bytes each become one character of four. */
function withPairs(bytes: readonly number[]): string {
  return latin1(bytes).replace(
    /\xed([\xa0-\xaf])([\x80-\xbf])\xed([\xb0-\xbf])([\x80-\xbf])/g,
    (_, a: string, b: string, c: string, d: string) => {
      const high = ((a.charCodeAt(0) & 0x0f) << 6) | (b.charCodeAt(0) & 0x3f);
      const low = ((c.charCodeAt(0) & 0x0f) << 6) | (d.charCodeAt(0) & 0x3f);
      return Buffer.from(String.fromCodePoint(0x1_0000 + (high << 10) + low)).toString('latin1');
    },
  );
}

function entityCode(name: string): number | undefined {
  if (Object.hasOwn(ENTITIES, name)) return ENTITIES[name];
  const [, hex, decimal] = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(name) ?? [];
  if (hex === undefined && decimal === undefined) return undefined;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10_ffff ? code : undefined;
}

/** Letters, digits, # and ; are all that an escape is made of, besides what opens it. */
function maybeEscaped(byte: number): boolean {
  const letter = byte | 0x20;
  const isLetter = letter >= 0x61 && letter <= 0x7a;
  return isLetter || (byte >= 0x30 && byte <= 0x39) || byte === 0x23 || byte === SEMICOLON;
}

/** -1: no hexadecimal digit. */
function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
