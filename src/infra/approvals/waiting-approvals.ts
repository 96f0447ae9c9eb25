// How many approvals wait, and how many of them run out of time: told to operators before a caller finds out.
import { sql } from 'kysely';
import { every } from '../../lib/timers/every.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';
import type { Database } from '../postgres/database.ts';

export interface WaitingApprovalsDeps {
  readonly database: Pick<Database, 'db'> & { readonly isOpen: boolean };
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

interface Counted {
  readonly pending: string;
  readonly expiring: string;
  readonly oldest: number;
}

const LOOK_MS = 15_000;

/** Every replica shows the same. The returned function ends it. */
export function showWaitingApprovals({ database, metrics, clock, log }: WaitingApprovalsDeps): () => void {
  const pending = metrics.gauge(ACCESS_SERIES.ute_approvals_pending).with();
  const expiring = metrics.gauge(ACCESS_SERIES.ute_approvals_expiring).with();
  const oldest = metrics.gauge(ACCESS_SERIES.ute_approval_oldest_pending_seconds).with();
  const look = async () => {
    if (!database.isOpen) return;
    const [row] = (await COUNT.execute(database.db)).rows;
    pending.set(Number(row?.pending ?? 0));
    expiring.set(Number(row?.expiring ?? 0));
    oldest.set(row?.oldest ?? 0);
  };
  const failed = (err: unknown) =>
    log.debug({ err }, 'approvals that wait could not be counted: tried again');
  const looks = every(clock, { ms: LOOK_MS }, look, failed);
  return () => void looks.stop();
}

/** The part of the table that an index of its own holds. */
const COUNT = sql<Counted>`
  SELECT count(*) AS pending,
    count(*) FILTER (WHERE expires_at <= now() + interval '15 minutes') AS expiring,
    COALESCE(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest
  FROM approvals WHERE status IN ('pending', 'approved') AND status = 'pending' AND expires_at > now()`;
