// Rows for COPY: read back as its binary format is defined, they say what the lines said.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { auditRecord } from '../../../../test/helpers/audit-kit.ts';
import { copiedRows } from '../../../../test/helpers/copied-rows.ts';
import type { AuditRecord } from '../../../ports/audit-sink.ts';
import { BinaryRows } from '../../postgres/statements/binary-rows.ts';
import { auditLine } from '../audit-line.ts';
import { ownLines } from './own-lines.ts';
import { COPIED_COLUMNS } from './trail-columns.ts';
import { addTrailRows } from './trail-rows.ts';

const AT = '2026-11-27T12:00:00.000Z';
const HASH = 'ab'.repeat(32);

type Row = Readonly<Record<string, Buffer | null>>;

function rowsOf(...lines: readonly string[]): Row[] {
  const rows = new BinaryRows(Buffer.alloc(64));
  const place = { seqs: lines.map((_, index) => index + 7), hashes: lines.map(() => HASH), ends: new Map() };
  const some = { lines: ownLines(Buffer.from(lines.join(''))), from: 0, to: lines.length };
  addTrailRows(rows, some, place, AT);
  return copiedRows(rows.complete()).map((row) => {
    expect(row).toHaveLength(COPIED_COLUMNS.length);
    return Object.fromEntries(COPIED_COLUMNS.map((name, index) => [name, row[index] ?? null]));
  });
}

function rowOf(record: Partial<AuditRecord>): Row {
  const [row] = rowsOf(auditLine(auditRecord(record)));
  return row ?? {};
}

const TEXTS =
  `agent_id call_id call_kind door event_id executor kind outcome principal_id reason registry_version
  requested_tool session_id tenant_id tool tool_version trace_id user_id`.split(/\s+/);

/** The texts of a row, without those that say nothing. */
function textsOf(row: Row) {
  const said = TEXTS.map((name) => [name, row[name]?.toString()] as const);
  return Object.fromEntries(said.filter(([, value]) => value !== undefined));
}

const hostile = fc.string({
  unit: fc.constantFrom('\\', '\t', '\n', '\r', 'N', '.', '"', 'x', 'é', '😀'),
  minLength: 1,
});

it('whatever stands in a value stays in it, and every row has every column', () => {
  fc.assert(
    fc.property(hostile, hostile, hostile, (user, session, note) => {
      const record = auditRecord({ user, session, notes: { note } });
      const [first, second, ...more] = rowsOf(auditLine(record), auditLine(auditRecord({})));
      expect(first?.['user_id']?.toString()).toBe(user);
      expect(first?.['session_id']?.toString()).toBe(session);
      expect(JSON.parse(first?.['notes']?.toString('utf8', 1) ?? '')).toEqual({ note });
      expect(first?.['notes']?.[0]).toBe(1);
      expect(first?.['personal_salt']).toHaveLength(16);
      expect(first?.['seq']?.readBigInt64BE()).toBe(7n);
      expect(first?.['recorded_at']).toEqual(rowOf({ at: AT })['at']);
      expect(second?.['seq']?.readBigInt64BE()).toBe(8n);
      expect(more).toEqual([]);
    }),
  );
});

it('every row says what its own line says, whatever the lines around it have alike', () => {
  const names = fc.constantFrom('', 'echo', 'pay', 'née');
  const record = fc.record({
    tool: names,
    requestedTool: names,
    outcome: names,
    reason: names,
    executor: names,
    toolVersion: names,
    registryVersion: names,
    agent: names,
    principal: names,
    traceId: names,
    readOnly: fc.boolean(),
    idempotent: fc.boolean(),
    intended: fc.boolean(),
    partialSideEffects: fc.boolean(),
    callKind: fc.constantFrom('' as const, 'sync' as const, 'async' as const),
  });
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 6 }), (records) => {
      const lines = records.map((changes) => auditLine(auditRecord(changes)));
      const rows = rowsOf(...lines);
      for (const [index, line] of lines.entries()) {
        const said = JSON.parse(line) as Record<string, unknown>;
        const texts = TEXTS.filter((name) => said[name] !== undefined).map((name) => [name, said[name]]);
        expect(textsOf(rows[index] ?? {})).toEqual(Object.fromEntries(texts));
        for (const name of ['read_only', 'idempotent', 'intended', 'partial_side_effects'])
          expect(rows[index]?.[name]).toEqual(said[name] === true ? Buffer.of(1) : null);
      }
    }),
  );
});

it('says numbers and hashes as PostgreSQL has them, and nothing where a line says nothing', () => {
  const row = rowOf({ attempts: 2, durationMs: 3.25, user: '', session: '', argumentsHash: 'cd'.repeat(32) });
  expect(row['attempts']?.readInt32BE()).toBe(2);
  expect(row['duration_ms']?.readDoubleBE()).toBe(3.25);
  expect(row['arguments_hash']).toEqual(Buffer.alloc(32, 0xcd));
  expect(row['hash']).toEqual(Buffer.from(HASH, 'hex'));
  for (const name of ['remaining_ms', 'user_id', 'personal_hash', 'personal_salt', 'notes'])
    expect([name, row[name]]).toEqual([name, null]);
});

it('half of a surrogate pair, which UTF-8 has no bytes for, is no record', () => {
  const line = auditLine(auditRecord({ user: 'ann' })).replace('"ann"', String.raw`"\ud83d"`);
  expect(() => rowsOf(line)).toThrow(SyntaxError);
});

it.each([
  [
    'nested deeper than the stack does',
    (line: string) => line.replace('"notes":{}', `"notes":${'['.repeat(20_000)}1${']'.repeat(20_000)}`),
  ],
  ['that is no JSON', (line: string) => line.replace('"user_id":"ann"', '"user_id":ann')],
  [
    'with a number of tries that no column takes',
    (line: string) => line.replace('"attempts":1', '"attempts":1e12'),
  ],
  ['with a text that is none', (line: string) => line.replace('"door":"rest"', '"door":7')],
  ['with a flag that is none', (line: string) => line.replace('"intended":true', '"intended":"yes"')],
  [
    'with a number beyond all numbers',
    (line: string) => line.replace('"duration_ms":3.5', '"duration_ms":1e999'),
  ],
  [
    'of a tenant that is no text',
    (line: string) => line.replace('"tenant_id":"acme"', String.raw`"tenant_id":"x\ud800"`),
  ],
  ['with a number that is none', (line: string) => line.replace('"duration_ms":3.5', '"duration_ms":"3.5"')],
  [
    'with a hash of other digits',
    (line: string) => line.replace('"arguments_hash":"aa', '"arguments_hash":"zz'),
  ],
  [
    'of a time that reads back as another',
    (line: string) => line.replace(/"at":"[^"]*"/, '"at":"2026-11-28"'),
  ],
  ['of two tenants', (line: string) => line.replace('"tenant_id":', '"tenant_id":"first","tenant_id":')],
  ['with a field that no column is for', (line: string) => line.replace('"tool":', '"tone":"mild","tool":')],
  [
    'with fields in another order',
    (line: string) => line.replace(/("agent_id":"\w+"),("arguments_hash":"\w+")/, '$2,$1'),
  ],
  ['with a field twice', (line: string) => line.replace('"tool":', '"tool":"pay","tool":')],
  ['with blanks between fields', (line: string) => line.replace(',"tool"', ', "tool"')],
  ['with something behind it', (line: string) => line.replace(/}\n$/, '}}\n')],
  ['that ends too early', (line: string) => line.replace(/}\n$/, '\n')],
  ['with a text that does not end', (line: string) => line.replace(/"}\n$/, '}\n')],
  [
    'with a number that reads back as another',
    (line: string) => line.replace('"attempts":1', '"attempts":01'),
  ],
  ['with a number that says nothing', (line: string) => line.replace('"attempts":1', '"attempts":0')],
  ['with a time that says nothing', (line: string) => line.replace('"duration_ms":3.5', '"duration_ms":0')],
  ['with a flag that says nothing', (line: string) => line.replace('"intended":true', '"intended":false')],
  ['with a text that says nothing', (line: string) => line.replace('"agent_id":"desk"', '"agent_id":""')],
  ['with a hash in capitals', (line: string) => line.replace('"arguments_hash":"aa', '"arguments_hash":"AA')],
  ['with an escape that need not be', (line: string) => line.replace('"desk"', String.raw`"\u0064esk"`)],
  ['with a list as a text', (line: string) => line.replace('"user_id":"ann"', '"user_id":["ann"]')],
])('a line %s is no record, and no message repeats a part of it', (_which, damage) => {
  const line = auditLine(auditRecord({ user: 'ann', notes: {} }));
  const damaged = damage(line);
  expect(damaged).not.toBe(line);
  expect(() => rowsOf(damaged)).toThrow(new SyntaxError('this is no line of an audit journal'));
});
