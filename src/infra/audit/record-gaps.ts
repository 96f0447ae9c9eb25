// RecordGaps: records that were not kept, counted by tenant until a record of the kind gap says how many.
import { uuidv7 } from '../../lib/ids.ts';
import { NO_CALL, type AuditRecord } from '../../ports/audit-sink.ts';
import type { Clock } from '../../ports/clock.ts';
import { auditLine } from './audit-line.ts';
import type { RecordCounts } from './record-counts.ts';

/** Of tenants whose losses are told apart. */
const MOST_TENANTS = 1_000;

export class RecordGaps {
  readonly #counts: Pick<RecordCounts, 'dropped' | 'omitted'>;
  readonly #clock: Clock;
  readonly #missing = new Map<string, number>();

  constructor(counts: Pick<RecordCounts, 'dropped' | 'omitted'>, clock: Clock) {
    this.#counts = counts;
    this.#clock = clock;
  }

  /** One that was to be kept. */
  drop(tenant: string): void {
    this.#counts.dropped.add();
    this.#add(tenant);
  }

  /** One that was not made. */
  omit(tenant: string): void {
    this.#counts.omitted.add();
    this.#add(tenant);
  }

  /** A record of each gap, as a line, as far as they are taken: `take` says false where there is no room. */
  fill(take: (line: string) => boolean): void {
    for (const [tenant, missing] of this.#missing) {
      if (!take(auditLine(gapRecord(tenant, missing, this.#clock.wall())))) return;
      this.#missing.delete(tenant);
    }
  }

  #add(ofTenant: string): void {
    const tenant = this.#missing.size < MOST_TENANTS || this.#missing.has(ofTenant) ? ofTenant : '';
    this.#missing.set(tenant, (this.#missing.get(tenant) ?? 0) + 1);
  }
}

/** `dropped` records of this tenant could not be kept; an empty tenant stands for those that are not told apart. */
function gapRecord(tenant: string, dropped: number, now: number): AuditRecord {
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
