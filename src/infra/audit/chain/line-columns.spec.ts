// Columns of one line: one for each field, and what a changed byte makes of it is said by the row too, or is no record.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { auditRecord } from '../../../../test/helpers/audit-kit.ts';
import { copiedRows } from '../../../../test/helpers/copied-rows.ts';
import { BinaryRows } from '../../postgres/statements/binary-rows.ts';
import { auditLine } from '../audit-line.ts';
import { LineColumns } from './line-columns.ts';
import { LINE_FIELDS } from './trail-columns.ts';

/** Of the line between some other bytes, by the names of its fields. */
function columnsOf(line: Buffer): ReadonlyMap<string, Buffer | null> {
  const bytes = Buffer.concat([Buffer.from('{},'), line, Buffer.from(',{}')]);
  const rows = new BinaryRows(Buffer.alloc(64));
  rows.row(LINE_FIELDS.length);
  new LineColumns(rows, bytes).add(3, 3 + line.length);
  const [columns = []] = copiedRows(rows.complete());
  return new Map(LINE_FIELDS.map(({ name }, index) => [name, columns[index] ?? null]));
}

const lineOf = (changes: Parameters<typeof auditRecord>[0]) =>
  Buffer.from(auditLine(auditRecord(changes)).trimEnd());

it('has one for each field, in their order, and null for those that say nothing', () => {
  const columns = columnsOf(lineOf({ agent: '', user: '', session: '', tool: 'pay', outcome: 'né"e' }));
  expect(columns.size).toBe(LINE_FIELDS.length);
  expect(columns.get('tool')?.toString()).toBe('pay');
  expect(columns.get('outcome')?.toString()).toBe('né"e');
  expect(['agent_id', 'user_id', 'notes', 'trace_id'].map((name) => columns.get(name))).toEqual(
    Array(4).fill(null),
  );
});

it.each([
  ['a kind that there is not', '"kind":"outcome"', '"kind":"nutcome"'],
  ['a kind of call that there is not', '"call_kind":"sync"', '"call_kind":"sink"'],
  ['a hash that is too short', `"arguments_hash":"${'a'.repeat(64)}"`, '"arguments_hash":"aa"'],
  ['a salt that is too short', /"personal_salt":"[0-9a-f]+"/, '"personal_salt":"aa"'],
  ['no id', /,"event_id":"[^"]+"/, ''],
  ['no time', /"at":"[^"]+",/, ''],
  ['no kind', ',"kind":"outcome"', ''],
])('a line with %s is no record', (_what, whole, damaged) => {
  const text = lineOf({ callKind: 'sync', kind: 'outcome', user: 'ann' }).toString();
  expect(() => columnsOf(Buffer.from(text))).not.toThrow();
  const line = text.replace(whole, damaged);
  expect(line).not.toBe(text);
  expect(() => columnsOf(Buffer.from(line))).toThrow(SyntaxError);
});

const TEXTS = LINE_FIELDS.filter(({ kind }) => ['text', 'name', 'word'].includes(kind));

/** Undefined: it is no record. Whatever else is thrown is a mistake. */
function unlessRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

it('a line with another byte is no record, or its texts are those that it says', () => {
  const line = lineOf({ agent: 'de\nsk', notes: { why: ['"', 1.5] } });
  fc.assert(
    fc.property(fc.nat(line.length - 1), fc.integer({ min: 0x20, max: 0x7e }), (at, byte) => {
      const changed = Buffer.from(line);
      changed[at] = byte;
      const columns = unlessRefused(() => columnsOf(changed));
      if (columns === undefined) return;
      const said = JSON.parse(changed.toString()) as Record<string, unknown>;
      for (const { name } of TEXTS) expect(columns.get(name)?.toString()).toEqual(said[name]);
    }),
    { numRuns: 1_000 },
  );
});
