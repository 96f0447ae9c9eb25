import { describe, expect, it } from 'vitest';
import { auditRecord } from '../../../test/helpers/audit-kit.ts';
import { auditLine } from './audit-line.ts';

const HOSTILE = 'a\n{"call_id":"forged"}\u2028"\\';

describe('auditLine', () => {
  it('writes every field in snake_case, and a line break inside a value as an escape', () => {
    const record = auditRecord({ requestedTool: HOSTILE, agent: HOSTILE, notes: { why: [HOSTILE] } });
    const line = auditLine(record);
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(JSON.parse(line)).toEqual({
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
      reason: '',
      arguments_hash: 'a'.repeat(64),
      read_only: false,
      idempotent: false,
      attempts: 1,
      duration_ms: 3.5,
      remaining_ms: 0,
      partial_side_effects: false,
      registry_version: '1.0.abc123de',
      trace_id: '',
      notes: { why: [HOSTILE] },
    });
  });

  it.each(['\0', '\ud800', 'x\udc00y'])('puts a sign in place of what no database keeps: %j', (text) => {
    const line = auditLine(auditRecord({ session: text, notes: { [text]: { deep: [text] } } }));
    expect(line).not.toMatch(/\\u0000|\\ud[89a-f]/i);
    expect(line).toContain('\u{FFFD}');
  });

  it('leaves a backslash before u0000 as the text it is', () => {
    const notes = { said: '\\u0000' };
    expect((JSON.parse(auditLine(auditRecord({ notes }))) as { notes: object }).notes).toEqual(notes);
  });
});
