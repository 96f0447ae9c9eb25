// Lines of the journal, each given its place in the chain of its tenant: without reading more of it than whose it is.
import { ChainHashes } from '../../../lib/audit-chain/chained-record.ts';
import type { SomeLines } from './own-lines.ts';

/** Where a chain ends. */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

/** Of some lines, which follow one another. */
export interface ChainedLines {
  readonly seqs: readonly number[];
  /** In hexadecimal digits. */
  readonly hashes: readonly string[];
  readonly ends: ReadonlyMap<string, ChainEnd>;
}

export function chainLines(
  { lines, from, to }: SomeLines,
  before: ReadonlyMap<string, ChainEnd>,
  recordedAt: string,
): ChainedLines {
  const { bytes, starts, chainedEnds, tenants } = lines;
  const ends = new Map(before);
  const seqs: number[] = [];
  const hashes: string[] = [];
  let index = from;
  while (index < to) {
    const tenant = tenants[index] ?? '';
    const last = ends.get(tenant);
    if (last === undefined) throw new Error(`the chain of ${tenant} is not held`);
    let { seq, hash } = last;
    const chain = new ChainHashes({ recordedAt, tenant });
    // Most of those that follow one another are of one tenant.
    for (; index < to && tenants[index] === tenant; index += 1) {
      seq += 1;
      hash = chain.ofOpen(bytes, starts[index] ?? 0, chainedEnds[index] ?? 0, { previous: hash, seq });
      hashes.push(hash);
      seqs.push(seq);
    }
    ends.set(tenant, { seq, hash });
  }
  return { seqs, hashes, ends };
}
