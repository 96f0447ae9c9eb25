// Assigned versions of tools: what the database holds, followed while the gateway runs.
import { unreadGauge } from '../../infra/telemetry/degraded-gauge.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';
import { AssignedVersions } from '../../core/versions/assigned-versions.ts';
import { FollowedAssignments } from '../../infra/assignments/followed-assignments.ts';
import { SqlAssignmentStore } from '../../infra/assignments/sql-assignment-store.ts';
import type { GatewayDatabase } from '../../infra/postgres/gateway-database.ts';
import type { AssignmentStore } from '../../ports/assignments/assignment-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';

export interface Assignments {
  readonly store: AssignmentStore;
  /** To be started once the database is open. */
  readonly followed: FollowedAssignments;
  /** For the path of calls. */
  readonly versions: AssignedVersions;
}

export interface AssignmentsNeeds {
  readonly database: Pick<GatewayDatabase, 'db'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export function openAssignments({ database, clock, log, metrics }: AssignmentsNeeds): Assignments {
  const store = new SqlAssignmentStore(database.db);
  const followed = new FollowedAssignments({
    store,
    clock,
    log,
    unread: unreadGauge(metrics, metrics.gauge(ACCESS_SERIES.ute_assignments_unread).with(), 'assignments'),
    count: metrics.gauge(ACCESS_SERIES.ute_assignments).with(),
  });
  return { store, followed, versions: new AssignedVersions(followed) };
}
