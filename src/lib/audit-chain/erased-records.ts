// Erasures: records whose personal data is gone, and the records that say so. In a few bytes for each, however many there are.
import type { ReadLine } from './export-line.ts';
import { found, type Finding } from './finding.ts';

/** Kind of the record of an erasure; its notes hold `erased`, numbers of records of the chain: "3-5,9". */
export const ERASURE = 'erasure';
/** That one record of an erasure names at most. */
export const MOST_ERASED = 1_000;

/** Of numbers in order, each once. */
export function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const each of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === each - 1) last[1] = each;
    else ranges.push([each, each]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

/** None where it names more than one record of an erasure may, or is no such text. */
export function numbersOf(ranges: string): readonly number[] {
  const numbers: number[] = [];
  for (const range of ranges.split(',')) {
    const [whole, first = '', last = first] = /^([1-9]\d{0,15})(?:-([1-9]\d{0,15}))?$/.exec(range) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (whole === undefined || to < from || numbers.length + to - from >= MOST_ERASED) return [];
    for (let each = from; each <= to; each += 1) numbers.push(each);
  }
  return numbers;
}

const CHUNK = 8_192;

export class ErasedRecords {
  /** A bit for each that no record has named yet, in pieces. */
  readonly #unnamed = new Map<number, Uint8Array>();
  #named = 0;

  /** Whose data was there, is gone, and was named by a record behind it. */
  get count(): number {
    return this.#named;
  }

  /** Its personal data is gone. */
  add(seq: number): void {
    const key = Math.floor(seq / CHUNK);
    const chunk = this.#unnamed.get(key) ?? new Uint8Array(CHUNK / 8);
    this.#unnamed.set(key, chunk);
    const bit = seq % CHUNK;
    chunk[bit >> 3] = (chunk[bit >> 3] ?? 0) | (1 << (bit & 7));
  }

  /** A record of the chain: it may be of an erasure. */
  read({ said, personal }: ReadLine): void {
    if (said['kind'] !== ERASURE || personal === undefined) return;
    for (const seq of numbersOf(erasedIn(personal.data))) this.#name(seq);
  }

  /** The first record whose data is gone without a word, if there is one. */
  finding(): Finding | undefined {
    const [first] = [...this.#unnamed.keys()].toSorted((one, other) => one - other);
    const chunk = first === undefined ? undefined : this.#unnamed.get(first);
    if (first === undefined || chunk === undefined) return undefined;
    const byte = chunk.findIndex((bits) => bits !== 0);
    const seq = first * CHUNK + byte * 8 + Math.log2((chunk[byte] ?? 0) & -(chunk[byte] ?? 0));
    return found(
      'altered',
      seq,
      'its personal data is gone, and no record behind it says that it was erased',
    );
  }

  #name(seq: number): void {
    const key = Math.floor(seq / CHUNK);
    const chunk = this.#unnamed.get(key);
    const bit = seq % CHUNK;
    const mask = 1 << (bit & 7);
    if (chunk === undefined || ((chunk[bit >> 3] ?? 0) & mask) === 0) return;
    chunk[bit >> 3] = (chunk[bit >> 3] ?? 0) & ~mask;
    this.#named += 1;
    if (chunk.every((bits) => bits === 0)) this.#unnamed.delete(key);
  }
}

function erasedIn(data: string): string {
  try {
    const { notes } = JSON.parse(data) as { readonly notes?: { readonly erased?: unknown } };
    return typeof notes?.erased === 'string' ? notes.erased : '';
  } catch {
    return '';
  }
}
