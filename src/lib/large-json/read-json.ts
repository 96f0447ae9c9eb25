// JSON of any size, read piece by piece: JSON.parse gets complete members of a few kilobytes each, so that whoever asks for
// the value may give way to others in between. What comes out is what one JSON.parse of the whole would have given.
import type { JsonValue } from '../json/json-value.ts';
import { inexactNumberIn, withExactNumbers } from '../json/exact-json.ts';
import { LargeJsonError, notJson, type LargeJsonLimits } from './limits.ts';
import { endOfLongString, endOfString, readLongString } from './long-string.ts';
import { OpenContainer } from './open-container.ts';

const QUOTE = 0x22, COMMA = 0x2c, COLON = 0x3a, OPEN_ARRAY = 0x5b, CLOSE_ARRAY = 0x5d, OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d; // oxfmt-ignore
const TAB = 0x09, LINE_FEED = 0x0a, RETURN = 0x0d, SPACE = 0x20; // oxfmt-ignore
/** Of a number, or of blanks. */
const MAX_WHOLE_BYTES = 256 * 1024;

/** How much is read in one go, in bytes: of members, and of a string. */
interface Pieces {
  readonly members: number;
  readonly string: number;
}

const PIECES: Pieces = { members: 16 * 1024, string: 64 * 1024 };

/** Yields after each piece. Throws LargeJsonError; what is not UTF-8 is replaced, as in any decoding of text. */
export function readLargeJson(
  bytes: Buffer,
  limits: LargeJsonLimits,
  pieces = PIECES,
): Generator<void, JsonValue> {
  return new Reader(bytes, limits, pieces).read();
}

class Reader {
  readonly #bytes: Buffer;
  readonly #limits: LargeJsonLimits;
  readonly #pieces: Pieces;
  readonly #open: OpenContainer[] = [];
  #at = 0;
  /** Where the piece began that is being gone through. */
  #from = 0;
  #isAtLongString = false;
  #values = 1;

  constructor(bytes: Buffer, limits: LargeJsonLimits, pieces: Pieces) {
    this.#bytes = bytes;
    this.#limits = limits;
    this.#pieces = pieces;
  }

  *read(): Generator<void, JsonValue> {
    this.#skipBlanks();
    const first = this.#bytes[this.#at];
    const isArray = first === OPEN_ARRAY;
    let value: JsonValue | undefined;
    if (first === QUOTE) value = yield* this.#longString();
    else if (!isArray && first !== OPEN_OBJECT) return this.#scalar();
    else this.#push(isArray).begin();
    while (value === undefined) {
      value = this.#next();
      if (this.#isAtLongString) yield* this.#longMember();
      yield;
    }
    this.#skipBlanks();
    if (this.#at < this.#bytes.length) throw notJson();
    return value;
  }

  /** Goes on until a piece was parsed or a long string begins. Gives the whole value once it has ended. */
  #next(): JsonValue | undefined {
    const bytes = this.#bytes;
    while (this.#at < bytes.length) {
      const byte = bytes[this.#at];
      if (byte === QUOTE) {
        const end = endOfString(bytes, this.#at + 1, this.#at + this.#pieces.string);
        this.#isAtLongString = end === undefined;
        if (end === undefined) return undefined;
        this.#at = end;
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#push(byte === OPEN_ARRAY);
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        const whole = this.#close(byte === CLOSE_ARRAY);
        if (whole !== undefined) return whole;
      } else {
        if (byte === COMMA) this.#comma();
        this.#at += 1;
      }
      if (this.#at - this.#from > this.#pieces.members) {
        this.#parseSoFar();
        return undefined;
      }
    }
    throw notJson();
  }

  get #innermost(): OpenContainer {
    const container = this.#open.at(-1);
    if (container === undefined) throw notJson();
    return container;
  }

  #push(isArray: boolean): OpenContainer {
    if (this.#open.length >= this.#limits.depth) throw new LargeJsonError('TOO_DEEP');
    this.#count();
    const container = new OpenContainer(isArray, this.#at, this.#limits.names);
    this.#open.push(container);
    this.#at += 1;
    return container;
  }

  #comma(): void {
    this.#count();
    const container = this.#innermost;
    container.lastComma = this.#at;
    if (container.expectsComma) this.#membersOf(container);
  }

  /** A container that has not begun stays text of the one around it. */
  #close(isArray: boolean): JsonValue | undefined {
    const container = this.#innermost;
    if (container.isArray !== isArray) throw notJson();
    const at = this.#at;
    this.#at += 1;
    this.#open.pop();
    if (!container.hasBegun) return undefined;
    if (container.lastComma >= container.from) this.#membersOf(container);
    const value = container.end(this.#text(container.from, at), this.#parse);
    this.#open.at(-1)?.take(value, this.#at);
    return this.#open.length === 0 ? value : undefined;
  }

  /** The complete members of every open container, and the name of each that is not complete. */
  #parseSoFar(): void {
    for (const [level, container] of this.#open.entries()) {
      if (container.lastComma >= container.from) this.#membersOf(container);
      const inner = this.#open[level + 1];
      if (inner === undefined || inner.hasBegun) continue;
      container.open(this.#text(container.from, inner.start), this.#parse);
      inner.begin();
    }
    this.#from = this.#at;
    this.#checkWhole(this.#innermost.from, this.#at);
  }

  #membersOf(container: OpenContainer): void {
    container.members(this.#text(container.from, container.lastComma), this.#parse);
  }

  *#longMember(): Generator<void, void> {
    this.#isAtLongString = false;
    this.#parseSoFar();
    const start = this.#at;
    const value = yield* this.#longString();
    const end = this.#at;
    this.#skipBlanks();
    if (this.#bytes[this.#at] === COLON) throw new LargeJsonError('TOO_LONG');
    const container = this.#innermost;
    container.open(this.#text(container.from, start), this.#parse);
    container.take(value, end);
    this.#from = this.#at;
  }

  /** Goes to behind its closing quote. */
  *#longString(): Generator<void, string> {
    const start = this.#at + 1;
    this.#at = yield* endOfLongString(this.#bytes, start, this.#pieces.string);
    return yield* readLongString(this.#bytes, start, this.#at - 1, this.#pieces.string);
  }

  #count(): void {
    this.#values += 1;
    if (this.#values > this.#limits.values) throw new LargeJsonError('TOO_MANY_VALUES');
  }

  #scalar(): JsonValue {
    this.#checkWhole(this.#at, this.#bytes.length);
    return this.#parse(this.#text(this.#at, this.#bytes.length));
  }

  #skipBlanks(): void {
    const start = this.#at;
    for (; this.#at < this.#bytes.length; this.#at += 1) {
      const byte = this.#bytes[this.#at];
      if (byte !== SPACE && byte !== LINE_FEED && byte !== RETURN && byte !== TAB) break;
      if (this.#at - start > MAX_WHOLE_BYTES) throw new LargeJsonError('TOO_LONG');
    }
  }

  #checkWhole(from: number, to: number): void {
    if (to - from > MAX_WHOLE_BYTES) throw new LargeJsonError('TOO_LONG');
  }

  #text(from: number, to: number): string {
    return this.#bytes.toString('utf8', from, to);
  }

  readonly #parse = (text: string): JsonValue => {
    const { numbers } = this.#limits;
    if (numbers === 'refuse' || typeof numbers === 'function') {
      const found = inexactNumberIn(text, numbers === 'refuse' ? undefined : numbers);
      if (found !== undefined) throw new LargeJsonError('UNSAFE_NUMBER', found);
    }
    try {
      return JSON.parse(numbers === 'text' ? withExactNumbers(text) : text) as JsonValue;
    } catch (cause) {
      throw notJson(cause);
    }
  };
}
