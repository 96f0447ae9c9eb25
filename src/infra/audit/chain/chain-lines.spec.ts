// Places in the chain: each line is chained to the one before of the same tenant, with the hash that everybody else computes.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { auditRecord } from '../../../../test/helpers/audit-kit.ts';
import { chainHash, FIRST_PREVIOUS } from '../../../lib/audit-chain/chained-record.ts';
import { auditLine } from '../audit-line.ts';
import { chainLines } from './chain-lines.ts';
import { ownLines } from './own-lines.ts';

const AT = '2026-11-27T12:00:00.000Z';
const TENANTS = ['acme', 'née', '"quoted"', '😀'];
const records = fc.array(
  fc.record({
    tenant: fc.constantFrom(...TENANTS),
    agent: fc.string({ unit: fc.constantFrom('a', 'é', '😀', '"') }),
    // Longer than the memory that hashes begin with.
    requestedTool: fc.integer({ min: 0, max: 4_000 }).map((length) => 'é'.repeat(length)),
  }),
  { minLength: 1, maxLength: 12 },
);

it('in parts as at once, every hash is the one of its record and its place', () => {
  fc.assert(
    fc.property(records, fc.nat(11), (given, cut) => {
      const lines = ownLines(Buffer.from(given.map((said) => auditLine(auditRecord(said))).join('')));
      let ends: ReadonlyMap<string, { seq: number; hash: string }> = new Map(
        TENANTS.map((tenant) => [tenant, { seq: 0, hash: FIRST_PREVIOUS }]),
      );
      const hashes: string[] = [];
      const seqs: number[] = [];
      const middle = Math.min(cut, given.length);
      for (const [from, to] of [
        [0, middle],
        [middle, given.length],
      ] as const) {
        const chained = chainLines({ lines, from, to }, ends, AT);
        ends = chained.ends;
        hashes.push(...chained.hashes);
        seqs.push(...chained.seqs);
      }
      const last = new Map<string, { seq: number; hash: string }>();
      for (const [index, { tenant }] of given.entries()) {
        const { seq, hash: previous } = last.get(tenant) ?? { seq: 0, hash: FIRST_PREVIOUS };
        const record = `${lines.bytes.toString('utf8', lines.starts[index], lines.chainedEnds[index])}}`;
        const hash = chainHash(record, { previous, recordedAt: AT, seq: seq + 1, tenant });
        expect([seqs[index], hashes[index]]).toEqual([seq + 1, hash]);
        last.set(tenant, { seq: seq + 1, hash });
      }
      for (const [tenant, end] of last) expect(ends.get(tenant)).toEqual(end);
    }),
  );
});

it('a chain that nobody holds is not added to', () => {
  const lines = ownLines(Buffer.from(auditLine(auditRecord())));
  expect(() => chainLines({ lines, from: 0, to: 1 }, new Map(), AT)).toThrow('the chain of acme is not held');
});
