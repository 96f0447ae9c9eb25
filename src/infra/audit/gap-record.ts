// gapRecord: the record of records that are missing.
import { NO_CALL, type AuditRecord } from '../../ports/audit-sink.ts';
import { uuidv7 } from '../../lib/ids.ts';

/** `dropped` records of this tenant could not be kept; an empty tenant stands for those that are not told apart. */
export function gapRecord(tenant: string, dropped: number, now: number): AuditRecord {
  return {
    ...NO_CALL,
    eventId: uuidv7(now),
    kind: 'gap',
    at: new Date(now).toISOString(),
    tenant,
    reason: 'AUDIT_DROPPED',
    readOnly: true,
    idempotent: true,
    notes: { dropped },
  };
}
