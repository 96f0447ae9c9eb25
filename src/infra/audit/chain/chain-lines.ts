// Lines of the journal, each given its place in the chain of its tenant: without reading more of it than whose it is.
import type { AuditRecord } from '../../../ports/audit-sink.ts';
import { auditLine, partsOf } from '../audit-line.ts';
import { chainHash } from '../../../lib/audit-chain/chained-record.ts';
import { recordOf, type TrailRow } from './trail-columns.ts';

/** Where a chain ends. */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

export interface ChainedLines {
  readonly seqs: readonly number[];
  /** In hexadecimal digits. */
  readonly hashes: readonly string[];
  readonly ends: ReadonlyMap<string, ChainEnd>;
}

export interface OwnLine {
  readonly text: string;
  readonly chained: string;
  readonly tenant: string;
}

/** A line as this version writes it; one of an older version, or made by SQL, is written anew. Throws SyntaxError. */
export function ownLine(line: string): OwnLine {
  const parts = partsOf(line);
  // PostgreSQL would hold the chain of another name.
  if (parts?.tenant.isWellFormed() === false) throw new SyntaxError(NO_RECORD);
  if (parts !== undefined) return { text: line, ...parts };
  return recordWork(() => {
    const text = auditLine(foreignRecord(JSON.parse(line) as TrailRow | null)).trimEnd();
    const own = partsOf(text);
    if (own === undefined) throw new SyntaxError(NO_RECORD);
    return { text, ...own };
  });
}

/**
 * Whatever fails of it is the line's own fault, also one that is nested deeper than the stack: it is no reason to try again. No
 * message repeats a part of the line, which may be about a person.
 */
export function recordWork<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw new SyntaxError(NO_RECORD);
  }
}

export const NO_RECORD = 'this is no line of an audit journal';

/** Of older versions nobody knows whether there was an intent: it is looked for. */
function foreignRecord(row: TrailRow | null): AuditRecord {
  const said = [row?.event_id, row?.kind, row?.tenant_id, row?.at];
  if (
    row === null ||
    said.some((value) => typeof value !== 'string') ||
    Number.isNaN(Date.parse(String(row.at)))
  )
    throw new SyntaxError(NO_RECORD);
  const { intended, kind, call_kind: callKind } = row;
  return { ...recordOf(row), intended: intended ?? (kind === 'outcome' && callKind === 'sync') };
}

export function chainLines(
  lines: readonly OwnLine[],
  from: ReadonlyMap<string, ChainEnd>,
  recordedAt: string,
): ChainedLines {
  const ends = new Map(from);
  const seqs: number[] = [];
  const hashes: string[] = [];
  for (const { chained, tenant } of lines) {
    const last = ends.get(tenant);
    if (last === undefined) throw new Error(`the chain of ${tenant} is not held`);
    const seq = last.seq + 1;
    const hash = chainHash(`${chained}}`, { previous: last.hash, recordedAt, seq, tenant });
    hashes.push(hash);
    seqs.push(seq);
    ends.set(tenant, { seq, hash });
  }
  return { seqs, hashes, ends };
}
