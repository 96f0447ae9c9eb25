// Checks an exported chain without the database: reads it once from beginning to end, and names the first bad record.
import type { KeyObject } from 'node:crypto';
import { chainHash, FIRST_PREVIOUS, personalHash } from './chained-record.ts';
import type { Checkpoint } from './checkpoint.ts';
import { CheckpointReader, TakenCheckpoints, type Lines, type Unfollowed } from './checkpoint-reader.ts';
import { found, type Finding } from './finding.ts';
import { ErasedRecords } from './erased-records.ts';
import { readExportLine, type ReadLine } from './export-line.ts';

export interface Verdict {
  readonly tenant: string;
  readonly records: number;
  /** Numbers of the first and the last record; 0 of an empty file. */
  readonly first: number;
  readonly last: number;
  readonly lastHash: string;
  /** Checkpoints that a record was held to. */
  readonly checkpoints: number;
  /** Records whose personal data was erased, as records behind them say. */
  readonly erased: number;
  readonly notes: readonly string[];
  readonly finding?: Finding;
}

export interface Evidence {
  /** Of the export, from its beginning each time. */
  readonly lines: () => Lines;
  readonly checkpoints: readonly (() => Lines)[];
  readonly publicKeys: readonly KeyObject[];
  /** The number that the first record has to have: 1, unless those before it were dropped or left out. */
  readonly first?: number;
}

export async function verifyChain(evidence: Evidence): Promise<Verdict> {
  const taken = new TakenCheckpoints(evidence.checkpoints.length);
  const readers = evidence.checkpoints.map(
    (lines) => new CheckpointReader(lines(), evidence.publicKeys, taken),
  );
  const walk = new ChainWalk(evidence.first ?? 1);
  let finding: Finding | undefined;
  for await (const line of evidence.lines()) {
    finding = walk.take(line) ?? (await heldTo(readers, walk, taken));
    if (finding === undefined) continue;
    if (walk.outOfOrder !== undefined)
      finding = await whatBecameOf(finding, walk.outOfOrder, evidence.lines());
    break;
  }
  finding ??= (await leftOver(readers, walk)) ?? walk.erased.finding();
  const verdict = walk.verdict();
  const notes = [...verdict.notes, ...notesOn(readers)];
  return { ...verdict, notes, checkpoints: sumOf(readers), ...(finding && { finding }) };
}

/** A chain that was written anew under another name, or a fork, would pass by them. */
function notesOn(readers: readonly CheckpointReader[]): readonly string[] {
  const notes: string[] = [];
  const passed = readers.reduce((sum, reader) => sum + reader.passed, 0);
  if (readers.length > 0 && sumOf(readers) === 0)
    notes.push('no record was held to a checkpoint: none of those given is of a record of this tenant here');
  if (passed > 0)
    notes.push(
      `${passed} checkpoints stand behind one of a later record and were not checked: give each file with a --checkpoints of its own`,
    );
  return notes;
}

/** What the walk has seen last. */
class ChainWalk {
  #tenant = '';
  #records = 0;
  #first = 0;
  readonly erased = new ErasedRecords();
  /** The last good one. */
  seq = 0;
  hash = FIRST_PREVIOUS;
  /** The hash that the first record says was before it. */
  before = FIRST_PREVIOUS;
  readonly #mustBegin: number;
  outOfOrder: { readonly expected: number; readonly line: ReadLine } | undefined;

  constructor(mustBegin: number) {
    this.#mustBegin = mustBegin;
    this.seq = mustBegin - 1;
  }

  /** Undefined while nothing is known: it may be anybody's. */
  get tenant(): string | undefined {
    return this.#first === 0 ? undefined : this.#tenant;
  }

  get first(): number {
    return this.#first;
  }

  take(text: string): Finding | undefined {
    const line = readExportLine(text);
    const expected = this.seq + 1;
    if (line === undefined) return found('altered', expected, 'its line is not as it was written');
    const { place, hash } = line;
    if (this.#first === 0) this.#begin(line);
    else if (place.tenant !== this.#tenant)
      return found('altered', expected, 'its line is of another tenant');
    if (place.seq !== expected) {
      this.outOfOrder = { expected, line };
      return found('missing', expected, '');
    }
    const finding = this.#wrong(line);
    if (finding !== undefined) return finding;
    this.erased.read(line);
    this.#records += 1;
    this.seq = place.seq;
    this.hash = hash;
    return undefined;
  }

  #begin({ place }: ReadLine): void {
    this.#tenant = place.tenant;
    this.#first = place.seq;
    this.before = place.previous;
    this.hash = this.#mustBegin === 1 ? FIRST_PREVIOUS : place.previous;
  }

  #wrong({ record, place, hash, personalHash: expected, personal }: ReadLine): Finding | undefined {
    const { seq } = place;
    if (chainHash(record, { ...place, previous: this.hash }) !== hash) {
      const isWhole = chainHash(record, place) === hash;
      if (isWhole && this.#records > 0)
        return found('altered', seq - 1, `record ${seq} is chained to another version of it`);
      return found('altered', seq, 'it does not fit its hash, or the hash of the record before it');
    }
    if (place.previous !== this.hash)
      return found('altered', seq, 'what it says of the record before it was changed');
    if (expected === '' && personal === undefined) return undefined;
    if (personal === undefined) {
      // A record behind it has to say so.
      this.erased.add(seq);
      return undefined;
    }
    if (personalHash(personal.salt, personal.data) !== expected)
      return found('altered', seq, 'its personal data does not fit the hash in it');
    return undefined;
  }

  verdict(): Omit<Verdict, 'checkpoints'> {
    const notes: string[] = [];
    if (this.#first > 1)
      notes.push(`it begins with record ${this.#first}: those before it are not in the file and not checked`);
    const [records, first, last, erased] = [this.#records, this.#first, this.seq, this.erased.count];
    if (erased > 0) notes.push(`the personal data of ${erased} records was erased, as the chain says`);
    return { tenant: this.#tenant, records, first, last, lastHash: this.hash, erased, notes };
  }
}

/** Checkpoints of the record that was just taken, and of the one before the first. */
async function heldTo(
  readers: readonly CheckpointReader[],
  walk: ChainWalk,
  taken: TakenCheckpoints,
): Promise<Finding | undefined> {
  let unfollowed: Unfollowed[] | undefined;
  for (;;) {
    const first = await lowest(readers, walk);
    if (first === undefined) break;
    if ('damage' in first) return first;
    const { reader, next } = first;
    const alone = reader.take(next);
    if (alone !== undefined) (unfollowed ??= []).push(alone);
    const known = next.seq === walk.seq ? walk.hash : next.seq === walk.first - 1 ? walk.before : undefined;
    if (known === undefined) {
      if (next.seq >= walk.first) reader.passed += 1;
      continue;
    }
    reader.held += 1;
    if (known !== next.hash)
      return found('forked', next.seq, `a checkpoint of ${next.at} is of another history`);
  }
  return unfollowed?.find(({ previous }) => !taken.has(previous))?.finding;
}

/** Of all files the one whose next checkpoint is of the lowest record, up to that of the walk: each is read as far as the others. */
async function lowest(
  readers: readonly CheckpointReader[],
  walk: ChainWalk,
): Promise<{ readonly reader: CheckpointReader; readonly next: Checkpoint } | Finding | undefined> {
  let first: { readonly reader: CheckpointReader; readonly next: Checkpoint } | undefined;
  for (const reader of readers) {
    const next = await reader.peek(walk.tenant);
    if (next === undefined) continue;
    if ('damage' in next) return next;
    if (next.seq <= walk.seq && (first === undefined || next.seq < first.next.seq)) first = { reader, next };
  }
  return first;
}

async function leftOver(readers: readonly CheckpointReader[], walk: ChainWalk): Promise<Finding | undefined> {
  for (const reader of readers) {
    const next = await reader.peek(walk.tenant);
    if (next === undefined) continue;
    if ('damage' in next) return next;
    return found(
      'truncated_tail',
      walk.seq + 1,
      `the file ends with record ${walk.seq}, and a checkpoint of ${next.at} says that there were ${next.seq}`,
    );
  }
  return undefined;
}

/** By another look at the whole file: whether what should have come is elsewhere, and what comes twice is the same. */
async function whatBecameOf(
  finding: Finding,
  { expected, line }: NonNullable<ChainWalk['outOfOrder']>,
  lines: Lines,
): Promise<Finding> {
  const { seq } = line.place;
  let passed = false;
  for await (const text of lines) {
    const other = readExportLine(text);
    if (other === undefined) continue;
    if (seq < expected && other.place.seq === seq && other.hash !== line.hash)
      return found('forked', seq, 'there are two records of this number');
    if (seq > expected && other.place.seq === expected)
      return found('reordered', expected, `record ${seq} stands before it`);
    passed ||= other.place.seq === seq;
  }
  if (seq > expected) return { ...finding, message: `the next one is record ${seq}` };
  return found(
    'reordered',
    seq,
    `it stands behind record ${expected - 1}${passed ? '' : ', and nowhere else'}`,
  );
}

function sumOf(readers: readonly CheckpointReader[]): number {
  return readers.reduce((sum, { held }) => sum + held, 0);
}
