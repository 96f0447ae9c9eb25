// Rows for COPY: read back as its text format is defined, they say what the lines said.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { auditRecord } from '../../../../test/helpers/audit-kit.ts';
import { auditLine } from '../audit-line.ts';
import { ownLine } from './chain-lines.ts';
import { TRAIL_COLUMNS } from './trail-columns.ts';
import { trailRows } from './trail-rows.ts';

const PLACE = { seqs: [7, 8], hashes: ['ab'.repeat(32), 'cd'.repeat(32)], ends: new Map() };
const AT = '2026-11-27T12:00:00.000Z';
const NAMES = TRAIL_COLUMNS.split(', ');
const UNESCAPED: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };

function read(rows: Buffer): Record<string, string | null>[] {
  const value = (field: string) =>
    field === '\\N'
      ? null
      : field.replaceAll(/\\(.)/g, (_all, next: string) => UNESCAPED[next] ?? `?${next}`);
  return rows
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((row) => Object.fromEntries(row.split('\t').map((field, index) => [NAMES[index], value(field)])));
}

const hostile = fc.string({
  unit: fc.constantFrom('\\', '\t', '\n', '\r', 'N', '.', '"', 'x', 'é', '😀'),
  minLength: 1,
});

it('whatever stands in a value stays in it, and every row has every column', () => {
  fc.assert(
    fc.property(hostile, hostile, hostile, (user, session, note) => {
      const record = auditRecord({ user, session, notes: { note } });
      const [first, second, ...more] = read(
        trailRows([ownLine(auditLine(record)), ownLine(auditLine(auditRecord({})))], PLACE, AT),
      );
      expect(first).toMatchObject({ user_id: user, session_id: session, seq: '7', recorded_at: AT });
      expect(JSON.parse(first?.notes ?? '')).toEqual({ note });
      expect(first?.personal_salt).toMatch(/^\\x[0-9a-f]{32}$/);
      expect([Object.keys(first ?? {}), Object.keys(second ?? {}), more]).toEqual([NAMES, NAMES, []]);
    }),
  );
});

it('says numbers and flags as PostgreSQL reads them, and nothing where a line says nothing', () => {
  const record = auditRecord({
    attempts: 2,
    durationMs: 3.25,
    readOnly: true,
    idempotent: false,
    user: '',
    session: '',
  });
  const [row] = read(trailRows([ownLine(auditLine(record))], PLACE, AT));
  expect(row).toMatchObject({ attempts: '2', duration_ms: '3.25', read_only: 'true' });
  expect(row).toMatchObject({
    idempotent: null,
    user_id: null,
    personal_hash: null,
    hash: `\\x${'ab'.repeat(32)}`,
  });
});

it('half of a surrogate pair, which UTF-8 has no bytes for, is no record', () => {
  const line = auditLine(auditRecord({ user: 'ann' })).replace('"ann"', String.raw`"\ud83d"`);
  expect(() => trailRows([ownLine(line)], PLACE, AT)).toThrow(SyntaxError);
});

it.each([
  [
    'nested deeper than the stack does',
    (line: string) => line.replace('"notes":{}', `"notes":${'['.repeat(20_000)}1${']'.repeat(20_000)}`),
  ],
  ['that is no JSON', (line: string) => line.replace('"user_id":"ann"', '"user_id":ann')],
  ['of two tenants', (line: string) => line.replace('"tenant_id":', '"tenant_id":"first","tenant_id":')],
])('a line %s is no record, and no message repeats a part of it', (_which, damage) => {
  const line = auditLine(auditRecord({ user: 'ann', notes: {} }));
  const damaged = damage(line);
  expect(damaged).not.toBe(line);
  expect(() => trailRows([ownLine(damaged)], PLACE, AT)).toThrow(
    new SyntaxError('this is no line of an audit journal'),
  );
});
