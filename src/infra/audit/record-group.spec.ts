// Specs of RecordGroup: whatever is in the lines, and however large a group is.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auditRecord } from '../../../test/helpers/audit-kit.ts';
import { LINE_CHARACTERS, RecordGroup } from './record-group.ts';

const lines = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('ü'.repeat(40_000))));
const said = ({ bytes, records, characters }: RecordGroup) => ({
  bytes: Buffer.from(bytes).toString('hex'),
  records,
  characters,
});
const expected = (all: readonly string[]) => ({
  bytes: Buffer.from(all.join('')).toString('hex'),
  records: all.length,
  characters: all.join('').length,
});

function groupOf(all: readonly string[], group = new RecordGroup()): RecordGroup {
  for (const line of all) group.add(line);
  return group;
}

describe('RecordGroup', () => {
  it('holds the lines as UTF-8, one behind the other, and nothing of what it held before', () => {
    const group = new RecordGroup();
    fc.assert(
      fc.property(lines, (all) => {
        group.empty();
        expect(said(groupOf(all, group))).toEqual(expected(all));
      }),
      { numRuns: 40 },
    );
  });

  it('makes the lines that were to be made behind those that it holds, and leaves out what cannot be', () => {
    const group = new RecordGroup();
    const make = () => auditRecord();
    const failure = new Error('no record of this');
    fc.assert(
      fc.property(lines, fc.array(fc.option(fc.string())), (first, later) => {
        group.empty();
        groupOf(first, group);
        for (const _each of later) group.addMaker(make);
        expect(group.records).toBe(first.length + later.length);
        expect(group.characters).toBe(first.join('').length + LINE_CHARACTERS * later.length);
        const left = [...later];
        group.make(() => {
          const line = left.shift() ?? null;
          if (line === null) throw failure;
          return line;
        });
        expect(said(group)).toEqual(expected([...first, ...later.filter((line) => line !== null)]));
        expect([...(group.unmade ?? [])]).toEqual(later.includes(null) ? [[make, failure]] : []);
      }),
      { numRuns: 40 },
    );
  });

  it('takes over another one behind what it holds, and leaves nothing there', () => {
    fc.assert(
      fc.property(lines, lines, (first, second) => {
        const [group, other] = [groupOf(first), groupOf(second)];
        group.takeOver(other);
        expect(said(group)).toEqual(expected([...first, ...second]));
        expect(said(other)).toEqual(expected([]));
      }),
      { numRuns: 40 },
    );
  });

  it('gives back what a large group took', () => {
    const group = groupOf(Array.from({ length: 40 }, () => 'ü'.repeat(40_000)));
    expect(group.bytes.buffer.byteLength).toBeGreaterThan(2_000_000);
    group.empty();
    expect(group.bytes.buffer.byteLength).toBeLessThan(200_000);
  });
});
