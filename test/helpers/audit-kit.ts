// Audit records for tests, and the audit trail of a running gateway as an operator reads it.
import { uuidv7 } from '../../src/lib/ids.ts';
import type { AuditRecord } from '../../src/ports/audit-sink.ts';
import { request, targetOf } from './rest-client.ts';
import type { RunningGateway } from './running-gateway.ts';

export function auditRecord(changes: Partial<AuditRecord> = {}): AuditRecord {
  return {
    eventId: uuidv7(Date.now()),
    kind: 'outcome',
    at: new Date().toISOString(),
    callId: uuidv7(Date.now()),
    callKind: 'sync',
    door: 'rest',
    principal: 'key00001',
    tenant: 'acme',
    agent: 'desk',
    user: 'ann',
    session: 's-1',
    requestedTool: 'pay',
    tool: 'pay',
    toolVersion: '1.0.0',
    executor: 'javascript',
    outcome: 'ok',
    reason: '',
    argumentsHash: 'a'.repeat(64),
    readOnly: false,
    idempotent: false,
    intended: true,
    attempts: 1,
    durationMs: 3.5,
    remainingMs: 0,
    partialSideEffects: false,
    registryVersion: '1.0.abc123de',
    traceId: '',
    ...changes,
  };
}

export function intentRecord(changes: Partial<AuditRecord> = {}): AuditRecord {
  const record = auditRecord({
    kind: 'intent',
    intended: false,
    outcome: '',
    attempts: 0,
    durationMs: 0,
    ...changes,
  });
  return { ...record, remainingMs: changes.remainingMs ?? 30_000 };
}

export interface WireAudit {
  readonly [field: string]: unknown;
  readonly kind: string;
  readonly call_id: string;
  readonly outcome: string;
}

/** Newest first. `query` without the question mark. */
export async function auditTrail(gateway: RunningGateway, query = ''): Promise<readonly WireAudit[]> {
  const path = `/v1/audit${query === '' ? '' : `?${query}`}`;
  const { status, body } = await request<{ records: WireAudit[] }>(targetOf(gateway), 'GET', path);
  if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${JSON.stringify(body)}`);
  return body.records;
}
