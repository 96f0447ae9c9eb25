// Lines of the journal as bytes: where each is, what of it the chain covers, and whose chain that is. None of them becomes a string.
import { isUtf8 } from 'node:buffer';
import type { AuditRecord } from '../../../ports/audit-sink.ts';
import { auditLine } from '../audit-line.ts';
import { jsonEnd } from './json-bytes.ts';
import { recordOf, type TrailRow } from './trail-columns.ts';

/** The lists have a number for each line: offsets into `bytes`. */
export interface OwnLines {
  readonly bytes: Buffer;
  readonly starts: readonly number[];
  /** Where the part ends that the chain covers, without its closing brace. */
  readonly chainedEnds: readonly number[];
  /** Without the newline. */
  readonly ends: readonly number[];
  readonly tenants: readonly string[];
}

/** From the index `from` up to `to`, which is not one of them. */
export interface SomeLines {
  readonly lines: OwnLines;
  readonly from: number;
  readonly to: number;
}

const NEWLINE = 0x0a;
/** By its first key a line is known from one of an older version, and from a record that SQL has made. */
const FOREIGN = Buffer.from('{"event_id":');
/** Where what the chain covers ends: inside of a string the quotes would be escaped. */
const BESIDE = Buffer.from(',"tenant_id":"');

/** `bytes` ends with a newline. Lines of an older version, or made by SQL, are written anew. Throws SyntaxError for what is no record. */
export function ownLines(bytes: Buffer): OwnLines {
  // What is replaced when it is read back would not be what the chain covers.
  if (!isUtf8(bytes)) throw noRecord();
  const places = recordWork(() => placesIn(bytes) ?? placesIn(rewritten(bytes)));
  if (places === undefined) throw noRecord();
  return places;
}

/** Without their newlines. Throws SyntaxError as `ownLines`. */
export function ownLinesOf(texts: readonly string[]): OwnLines {
  // It would be two records.
  if (texts.some((text) => text.includes('\n'))) throw noRecord();
  return ownLines(Buffer.from(texts.map((text) => `${text}\n`).join('')));
}

/** Those of these indexes. */
export function onlyLines(lines: OwnLines, indexes: readonly number[]): OwnLines {
  const pick = <T>(list: readonly T[]) => indexes.map((index) => list[index] as T);
  return {
    bytes: lines.bytes,
    starts: pick(lines.starts),
    chainedEnds: pick(lines.chainedEnds),
    ends: pick(lines.ends),
    tenants: pick(lines.tenants),
  };
}

export function lineText({ bytes, starts, ends }: OwnLines, index: number): string {
  return bytes.toString('utf8', starts[index], ends[index]);
}

/**
 * Whatever fails of it is the line's own fault, also one that is nested deeper than the stack: it is no reason to try again. No
 * message repeats a part of the line, which may be about a person.
 */
export function recordWork<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw noRecord();
  }
}

/** To be thrown. */
export function noRecord(): SyntaxError {
  return new SyntaxError('this is no line of an audit journal');
}

/** Undefined: one of the lines has another form. */
function placesIn(bytes: Buffer): OwnLines | undefined {
  const starts: number[] = [];
  const chainedEnds: number[] = [];
  const ends: number[] = [];
  const tenants: string[] = [];
  const names = new TenantNames(bytes);
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(NEWLINE, start);
    const chainedEnd = bytes.indexOf(BESIDE, start);
    if (chainedEnd < 0 || chainedEnd > end || isForeign(bytes, start)) return undefined;
    starts.push(start);
    chainedEnds.push(chainedEnd);
    ends.push(end);
    tenants.push(names.at(chainedEnd + BESIDE.length - 1, end));
    start = end + 1;
  }
  return { bytes, starts, chainedEnds, ends, tenants };
}

function isForeign(bytes: Buffer, start: number): boolean {
  for (let at = 0; at < FOREIGN.length; at += 1) if (bytes[start + at] !== FOREIGN[at]) return false;
  return true;
}

class TenantNames {
  readonly #bytes: Buffer;
  /** Of the line before, with its quotes: most are of the same tenant. */
  #start = 0;
  #end = 0;
  #name = '';

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Of the JSON string that begins there. Throws SyntaxError where it is no text: PostgreSQL would hold the chain of another name. */
  at(start: number, most: number): string {
    const bytes = this.#bytes;
    const like = start + this.#end - this.#start;
    if (like > start && like <= most && bytes.compare(bytes, this.#start, this.#end, start, like) === 0)
      return this.#name;
    const end = jsonEnd(bytes, start);
    const name = JSON.parse(bytes.toString('utf8', start, end)) as string;
    if (!name.isWellFormed()) throw noRecord();
    this.#start = start;
    this.#end = end;
    this.#name = name;
    return name;
  }
}

function rewritten(bytes: Buffer): Buffer {
  const lines = bytes.toString('utf8', 0, bytes.length - 1).split('\n');
  return Buffer.from(lines.map(rewrittenLine).join(''));
}

/** With its end. One of this version stays as it is. */
function rewrittenLine(line: string): string {
  const text = `${line}\n`;
  if (placesIn(Buffer.from(text)) !== undefined) return text;
  return recordWork(() => auditLine(foreignRecord(JSON.parse(line) as TrailRow | null)));
}

/** Of older versions nobody knows whether there was an intent: it is looked for. */
function foreignRecord(row: TrailRow | null): AuditRecord {
  const said = [row?.event_id, row?.kind, row?.tenant_id, row?.at];
  if (
    row === null ||
    said.some((value) => typeof value !== 'string') ||
    Number.isNaN(Date.parse(String(row.at)))
  )
    throw noRecord();
  const { intended, kind, call_kind: callKind } = row;
  return { ...recordOf(row), intended: intended ?? (kind === 'outcome' && callKind === 'sync') };
}
