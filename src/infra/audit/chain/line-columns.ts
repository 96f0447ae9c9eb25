// LineColumns: the columns of a line of the journal, read from its bytes in the order in which a line has its fields.
import type { BinaryRows } from '../../postgres/statements/binary-rows.ts';
import { IsoTimes } from './iso-times.ts';
import { jsonEnd, numberAt, numberEnd, plainStringEnd } from './json-bytes.ts';
import { noRecord } from './own-lines.ts';
import { HEX_DIGITS, LINE_FIELDS, WORDS, type FieldKind } from './trail-columns.ts';

const OPEN = 0x7b;
const CLOSE = 0x7d;
const COMMA = 0x2c;
/** Of a 32-bit integer. */
const MOST = 2 ** 31;

const KEYS = LINE_FIELDS.map(({ name }) => Buffer.from(`"${name}":`));
const KINDS: readonly FieldKind[] = LINE_FIELDS.map(({ kind }) => kind);
/** What may stand there; with its quotes, so that one may begin like another. */
const FIELD_WORDS = LINE_FIELDS.map(({ name }) =>
  (WORDS[name] ?? []).map((word) => Buffer.from(`"${word}"`)),
);
/** Of a string: its quotes. */
const EMPTY = 2;
const TRUE = Buffer.from('true');

export class LineColumns {
  readonly #rows: BinaryRows;
  readonly #bytes: Buffer;
  readonly #times = new IsoTimes();

  constructor(rows: BinaryRows, bytes: Buffer) {
    this.#rows = rows;
    this.#bytes = bytes;
  }

  /**
   * One for each of LINE_FIELDS: null where the line has no such field. Throws SyntaxError where it is no record as auditLine writes
   * it: with other fields, twice the same, in another order, without a required one, with what says nothing, or what its columns do not
   * take. The chain covers the line as it stands, and whoever verifies it writes the line again, from the row.
   */
  add(start: number, end: number): void {
    const bytes = this.#bytes;
    if (bytes[start] !== OPEN) throw noRecord();
    let field = 0;
    let at = start;
    do {
      const named = this.#fieldAt(at + 1, field);
      for (; field < named; field += 1) this.#nothing(field);
      at = this.#value(at + 1 + (KEYS[named] as Buffer).length, named);
      field += 1;
    } while (bytes[at] === COMMA && at < end);
    if (bytes[at] !== CLOSE || at + 1 !== end) throw noRecord();
    for (; field < KEYS.length; field += 1) this.#nothing(field);
  }

  #nothing(field: number): void {
    if (LINE_FIELDS[field]?.isRequired === true) throw noRecord();
    this.#rows.nothing();
  }

  /** Which one's name stands there, from `first` on. */
  #fieldAt(at: number, first: number): number {
    for (let field = first; field < KEYS.length; field += 1)
      if (standsAt(KEYS[field] as Buffer, this.#bytes, at)) return field;
    throw noRecord();
  }

  /** Gives where it ends. */
  #value(at: number, field: number): number {
    const kind = KINDS[field] as FieldKind;
    switch (kind) {
      case 'text':
        return this.#text(at);
      case 'name':
        return this.#name(at);
      case 'word':
        return this.#word(at, FIELD_WORDS[field] as readonly Buffer[]);
      case 'hash':
      case 'salt':
        return this.#hex(at, HEX_DIGITS[kind] as number);
      case 'time':
        return this.#time(at);
      case 'flag':
        return this.#flag(at);
      case 'integer':
        return this.#integer(at);
      case 'double':
        return this.#double(at);
      case 'json':
        return this.#json(at);
      default:
        return kind;
    }
  }

  #text(at: number): number {
    const end = this.#name(at);
    if (end - at === EMPTY) throw noRecord();
    return end;
  }

  /** A text that may be empty. */
  #name(at: number): number {
    const bytes = this.#bytes;
    const end = plainStringEnd(bytes, at);
    if (end > 0) this.#rows.utf8(bytes, at + 1, end - 1);
    return end > 0 ? end : this.#escaped(at);
  }

  #escaped(at: number): number {
    const end = jsonEnd(this.#bytes, at);
    const text = this.#bytes.toString('utf8', at, end);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'string' || JSON.stringify(value) !== text) throw noRecord();
    this.#rows.text(value);
    return end;
  }

  #word(at: number, words: readonly Buffer[]): number {
    const word = words.find((each) => standsAt(each, this.#bytes, at));
    if (word === undefined) throw noRecord();
    const end = at + word.length;
    this.#rows.utf8(this.#bytes, at + 1, end - 1);
    return end;
  }

  #hex(at: number, digits: number): number {
    const end = this.#plainEnd(at);
    if (end - at - EMPTY !== digits) throw noRecord();
    this.#rows.hexOf(this.#bytes, at + 1, end - 1);
    return end;
  }

  /** Read back it has to be the same text, which the chain covers. */
  #time(at: number): number {
    const end = this.#plainEnd(at);
    const ms = this.#times.ms(this.#bytes, at + 1, end - 1);
    if (Number.isNaN(ms)) throw noRecord();
    this.#rows.time(ms);
    return end;
  }

  #plainEnd(at: number): number {
    const end = plainStringEnd(this.#bytes, at);
    if (end === 0) throw noRecord();
    return end;
  }

  #flag(at: number): number {
    if (!standsAt(TRUE, this.#bytes, at)) throw noRecord();
    this.#rows.flag(true);
    return at + TRUE.length;
  }

  #integer(at: number): number {
    const end = numberEnd(this.#bytes, at);
    const value = numberAt(this.#bytes, at, end);
    if (!Number.isInteger(value) || value >= MOST || value < -MOST || value === 0) throw noRecord();
    this.#rows.integer(value);
    return end;
  }

  #double(at: number): number {
    const end = numberEnd(this.#bytes, at);
    const value = numberAt(this.#bytes, at, end);
    if (Number.isNaN(value) || value === 0) throw noRecord();
    this.#rows.double(value);
    return end;
  }

  #json(at: number): number {
    const end = jsonEnd(this.#bytes, at);
    this.#rows.json(JSON.stringify(JSON.parse(this.#bytes.toString('utf8', at, end))));
    return end;
  }
}

function standsAt(text: Buffer, bytes: Buffer, start: number): boolean {
  for (let at = 0; at < text.length; at += 1) if (bytes[start + at] !== text[at]) return false;
  return true;
}
