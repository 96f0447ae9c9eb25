import { describe, expect, it } from 'vitest';
import {
  callOf,
  echoNext,
  outcomeOf,
  principalOf,
  recordingLog,
  requestOf,
} from '../../../test/helpers/call-kit.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { AuditRecord, AuditSink } from '../../ports/audit-sink.ts';
import { audit } from './index.ts';

function sinkOf(changes: Partial<AuditSink> = {}) {
  const records: AuditRecord[] = [];
  const sink: AuditSink = {
    write: (record) => void records.push(record),
    check: () => undefined,
    flush: async () => undefined,
    close: async () => undefined,
    ...changes,
  };
  return { sink, records };
}

const DENY = audit.optionsSchema.parse({});
const unavailable = () => {
  throw new ToolFailure('UNAVAILABLE', 'disk full', { reason: 'AUDIT_UNAVAILABLE' });
};

describe('audit', () => {
  it('records who called what with which arguments, and how it ended; the arguments themselves are not kept', async () => {
    const { sink, records } = sinkOf();
    const call = callOf({ request: requestOf({ arguments: { password: 'hunter2' } }) });
    call.progress.caller = { principal: principalOf(), context: { tenantId: 'acme', agentId: 'desk' } };
    await audit.create({ auditSink: sink, log: recordingLog() }).around(call, echoNext().next, DENY);
    expect(records).toMatchObject([
      {
        callId: 'call-1',
        principal: 'key00001',
        tenant: 'acme',
        agent: 'desk',
        tool: 'greet',
        outcome: 'ok',
      },
    ]);
    expect(records[0]?.argumentsHash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(records)).not.toContain('hunter2');
  });

  it('a refusal leaves a record too, with its reason', async () => {
    const { sink, records } = sinkOf();
    const call = callOf();
    const refusing = () =>
      outcomeOf(() => Promise.reject(new ToolFailure('AUTH', 'no', { reason: 'CREDENTIAL_MISSING' })), call);
    await audit.create({ auditSink: sink, log: recordingLog() }).around(call, refusing, DENY);
    expect(records).toMatchObject([{ outcome: 'AUTH', reason: 'CREDENTIAL_MISSING' }]);
  });

  it('nothing runs that cannot be recorded', async () => {
    const { sink } = sinkOf({ check: unavailable });
    const { calls, next } = echoNext();
    const call = callOf();
    const extension = audit.create({ auditSink: sink, log: recordingLog() });
    expect(await outcomeOf(async () => extension.around(call, next, DENY), call)).toMatchObject({
      ok: false,
      error: { type: 'UNAVAILABLE', reason: 'AUDIT_UNAVAILABLE', partialSideEffects: false },
    });
    expect(calls).toHaveLength(0);
  });

  it('an answer whose record was lost is not given as a success', async () => {
    const { sink } = sinkOf({ write: unavailable });
    const call = callOf();
    const extension = audit.create({ auditSink: sink, log: recordingLog() });
    expect(await outcomeOf(async () => extension.around(call, echoNext().next, DENY), call)).toMatchObject({
      ok: false,
      error: { type: 'UNAVAILABLE', reason: 'AUDIT_UNAVAILABLE', retryable: false, partialSideEffects: true },
    });
  });

  it('where the operator said continue, a lost record is logged and the answer given', async () => {
    const { sink } = sinkOf({ write: unavailable });
    const log = recordingLog();
    const extension = audit.create({ auditSink: sink, log });
    expect((await extension.around(callOf(), echoNext().next, { on_failure: 'continue' })).ok).toBe(true);
    expect(log.lines).toMatchObject([{ level: 'error', message: 'audit record lost' }]);
  });
});
