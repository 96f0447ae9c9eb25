import canonicalize from 'canonicalize';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auditRecord } from '../../../test/helpers/audit-kit.ts';
import { NO_CALL, type AuditRecord } from '../../ports/audit-sink.ts';
import { personalHash } from '../../lib/audit-chain/chained-record.ts';
import { auditLine, chainedJson, personalJson } from './audit-line.ts';
import { ownLines } from './chain/own-lines.ts';
import { recordOf, type TrailRow } from './chain/trail-columns.ts';

const HOSTILE = 'a\n{"call_id":"forged"}\u2028"\\,"tenant_id":"forged"';

const parsed = (line: string) => JSON.parse(line) as Record<string, unknown>;

/** What the chain covers of it, without the closing brace. */
function chainedOf(line: string): string {
  const { bytes, chainedEnds } = ownLines(Buffer.from(line));
  return bytes.toString('utf8', 0, chainedEnds[0]);
}

describe('auditLine', () => {
  it('writes every field that says something in snake_case, and a line break inside a value as an escape', () => {
    const record = auditRecord({ requestedTool: HOSTILE, agent: HOSTILE, notes: { why: [HOSTILE] } });
    const line = auditLine(record);
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(parsed(line)).toEqual({
      event_id: record.eventId,
      kind: 'outcome',
      at: record.at,
      call_id: record.callId,
      call_kind: 'sync',
      door: 'rest',
      principal_id: 'key00001',
      tenant_id: 'acme',
      agent_id: HOSTILE,
      user_id: 'ann',
      session_id: 's-1',
      requested_tool: HOSTILE,
      tool: 'pay',
      tool_version: '1.0.0',
      executor: 'javascript',
      outcome: 'ok',
      arguments_hash: 'a'.repeat(64),
      intended: true,
      attempts: 1,
      duration_ms: 3.5,
      registry_version: '1.0.abc123de',
      notes: { why: [HOSTILE] },
      personal: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      personal_salt: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    });
  });

  it.each(['\0', '\ud800', 'x\udc00y'])('puts a sign in place of what no database keeps: %j', (text) => {
    const line = auditLine(auditRecord({ session: text, notes: { [text]: { deep: [text] } } }));
    expect(line).not.toMatch(/\\u0000|\\ud[89a-f]/i);
    expect(line).toContain('\u{FFFD}');
  });

  it('leaves a backslash before u0000 as the text it is', () => {
    const notes = { said: '\\u0000' };
    expect(parsed(auditLine(auditRecord({ notes })))['notes']).toEqual(notes);
  });

  it('neither a person nor what was noted is in what the chain covers, but a salted hash of it', () => {
    const record = auditRecord({ user: 'ann', session: 'secret-session', notes: { said: 'by ann' } });
    const one = chainedOf(auditLine(record));
    expect(one).not.toMatch(/ann|secret/);
    expect(one).not.toBe(chainedOf(auditLine(record)));
    const { personal, personal_salt: salt } = parsed(auditLine(record)) as Record<string, string>;
    expect(personal).toBe(personalHash(salt ?? '', personalJson(record)));
    expect(auditLine(auditRecord({ user: '', session: '' }))).not.toContain('personal');
  });
});

const text = fc.string({ unit: 'binary', maxLength: 12 });
const records: fc.Arbitrary<AuditRecord> = fc
  .record({
    callId: text,
    door: text,
    principal: text,
    tenant: text,
    agent: text,
    user: text,
    session: text,
    requestedTool: text,
    tool: text,
    outcome: text,
    reason: text,
    readOnly: fc.boolean(),
    intended: fc.boolean(),
    attempts: fc.nat(),
    durationMs: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
    notes: fc.option(fc.dictionary(text, fc.jsonValue()) as fc.Arbitrary<NonNullable<AuditRecord['notes']>>, {
      nil: undefined,
    }),
  })
  .map(({ notes, ...said }) => ({
    ...NO_CALL,
    ...said,
    eventId: 'e-1',
    kind: 'outcome',
    at: '2026-01-31T12:00:00.000Z',
    ...(notes !== undefined && { notes }),
  }));

it('what the chain covers is canonical, ends where the tenant begins, and is the same again from the fields of its row', () => {
  fc.assert(
    fc.property(records, (record) => {
      const line = auditLine(record);
      const row = parsed(line) as unknown as TrailRow & { readonly personal?: string };
      const chained = `${chainedOf(line)}}`;
      expect(canonicalize(JSON.parse(chained))).toBe(chained);
      expect(ownLines(Buffer.from(line)).tenants).toEqual([row.tenant_id]);
      const again = recordOf(row);
      expect(chainedJson(again, row.personal ?? '')).toBe(chained);
      const { personal, personal_salt: salt } = row;
      expect(personal && personalHash(salt ?? '', personalJson(again))).toBe(personal);
    }),
  );
});

it.each([
  ['callKind', { callKind: 'async' }, { call_kind: 'async' }],
  ['door', { door: 'grpc' }, { door: 'grpc' }],
  ['executor', { executor: 'http' }, { executor: 'http' }],
  ['idempotent', { idempotent: true }, { idempotent: true }],
  ['intended', { intended: false }, { intended: undefined }],
  ['kind', { kind: 'accepted' }, { kind: 'accepted' }],
  ['outcome', { outcome: 'TIMEOUT' }, { outcome: 'TIMEOUT' }],
  ['partialSideEffects', { partialSideEffects: true }, { partial_side_effects: true }],
  ['readOnly', { readOnly: true }, { read_only: true }],
  ['reason', { reason: 'WHY' }, { reason: 'WHY' }],
  ['registryVersion', { registryVersion: '2' }, { registry_version: '2' }],
  ['toolVersion', { toolVersion: '9.9.9' }, { tool_version: '9.9.9' }],
  ['tool', { tool: 'pay_twice' }, { tool: 'pay_twice', requested_tool: 'pay' }],
  ['principal', { principal: 'key00002' }, { principal_id: 'key00002' }],
] as const)(
  'a line says what its own record says, whatever was written before it: %s',
  (_field, changes, said) => {
    const before = auditRecord({ user: '', session: '' });
    const usual = parsed(auditLine(before));
    const changed = { ...before, ...changes };
    expect(parsed(auditLine(changed))).toEqual({ ...usual, ...said });
    expect(parsed(auditLine(before))).toEqual(usual);
  },
);
