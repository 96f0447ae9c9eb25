// gapRecord: the record of records that are missing.
import type { AuditRecord } from '../../ports/audit-sink.ts';
import { uuidv7 } from '../../lib/ids.ts';

/** `dropped` records of this tenant could not be kept; an empty tenant stands for those that are not told apart. */
export function gapRecord(tenant: string, dropped: number, now: number): AuditRecord {
  return {
    eventId: uuidv7(now),
    kind: 'gap',
    at: new Date(now).toISOString(),
    callId: '',
    callKind: '',
    door: '',
    principal: '',
    tenant,
    agent: '',
    user: '',
    session: '',
    requestedTool: '',
    tool: '',
    toolVersion: '',
    executor: '',
    outcome: '',
    reason: 'AUDIT_DROPPED',
    argumentsHash: '',
    readOnly: true,
    idempotent: true,
    attempts: 0,
    durationMs: 0,
    remainingMs: 0,
    partialSideEffects: false,
    registryVersion: '',
    traceId: '',
    notes: { dropped },
  };
}
