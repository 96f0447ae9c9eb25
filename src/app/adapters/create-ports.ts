// Makes every port's adapter: the embedded ones, or those on Redis and PostgreSQL where their URLs are set.
import { join } from 'node:path';
import type { StreamParking } from '../../ports/stream-parking.ts';
import type { KeyCheck } from '../../core/agents/key-check.ts';
import type { CallHistory } from '../../ports/calls/call-history.ts';
import type { OutsidePorts } from '../../ports/ports.ts';
import { callRulesOf } from '../../settings/call-rules.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { EventLoopLag } from '../../infra/telemetry/event-loop-lag.ts';
import { openFileTrustedDefinitions } from '../../infra/definitions/file-trusted-definitions.ts';
import { createEgressAdapters } from './create-egress-adapters.ts';
import { openCoordination, type Coordination } from './open-coordination.ts';
import { openCallLog, type CallLog } from './open-call-log.ts';
import { openAgents, type Agents } from './open-agents.ts';
import { degradedOf } from './degraded-components.ts';
import { historyWithAccounts } from './history-with-accounts.ts';
import { openOAuth, type OAuthParts } from './open-oauth.ts';
import { openAssignments, type Assignments } from './open-assignments.ts';
import { WatchedSettings } from '../../infra/settings-file/watched-settings.ts';
import { openKeyCheck } from './open-key-check.ts';
import { openKeys, type Keys } from './open-keys.ts';
import { openSessions, type SessionParts } from './open-sessions.ts';
import { openStreamParking } from './open-stream-parking.ts';
import { openObservation, type Observation } from './open-observation.ts';
import { openRecordings } from '../../infra/recordings/open-recordings.ts';
import { DatabaseWatch } from '../../infra/postgres/database-watch.ts';
import { databaseSettings, embeddedPostgres } from '../../infra/postgres/own-database.ts';
import { GatewayDatabase } from '../../infra/postgres/gateway-database.ts';
import { SqlIdempotencyStore } from '../../infra/idempotency/sql-idempotency-store.ts';
import { SqlSpecStore } from '../../infra/specs/sql-spec-store.ts';
import type { EmbeddedPostgres } from '../../infra/embedded-postgres/embedded-postgres.ts';
import {
  createAsyncParts,
  type AsyncParts,
  type AsyncPartsNeeds,
} from '../../infra/calls/queue/async-parts.ts';
import { degradedGauge, type Degraded } from '../../infra/telemetry/degraded-gauge.ts';
import type { JsonLog } from '../../infra/telemetry/json-log.ts';
import type { PrometheusMetrics } from '../../infra/telemetry/prometheus-metrics.ts';

/** Of a start that failed. */
const CLOSE_WITHIN_MS = 5_000;

export interface Infra {
  readonly ports: OutsidePorts;
  readonly metrics: PrometheusMetrics;
  readonly log: JsonLog;
  /** The gateway's own database. */
  readonly database: GatewayDatabase;
  /** Runs where the gateway keeps its own data in it, or a tool's. */
  readonly server: EmbeddedPostgres;
  /** Tells whether the database answers; to be started once that is open. */
  readonly databaseWatch: DatabaseWatch;
  /** What the gateway does without now. */
  readonly degraded: () => Degraded;
  readonly history: CallHistory;
  readonly approvers: CallLog['approvers'];
  /** What calls that run later need. */
  readonly asyncParts: AsyncParts;
  /** gateway.yaml, to be started once its keys are followed. Undefined: what it says stays as it was read. */
  readonly watched: WatchedSettings | undefined;
  readonly keys: Keys;
  readonly agents: Agents;
  readonly oauth: OAuthParts;
  /** To be started once the database is open. */
  readonly keyCheck: KeyCheck;
  readonly assignments: Assignments;
  readonly sessions: SessionParts;
  /** Where streams go from one replica to another. */
  readonly streamParking: StreamParking;
  /**
   * Last of all: children gone, audit on disk, log lines out. What the audit journal holds is moved into the database for
   * `withinMs` at most.
   */
  close(withinMs?: number): Promise<void>;
}

/**
 * `announce` shows the operator a line that must not go to the log: the first key. `reread`: the settings as a text of
 * gateway.yaml says; without it what that says stays as it is. `alsoHidden`: paths that no sandboxed tool sees, besides this gateway's own.
 */
export async function createInfra(
  settings: Settings,
  announce: (line: string) => void,
  reread: ((text: string | undefined) => Settings) | undefined,
  alsoHidden: readonly string[] = [],
): Promise<Infra> {
  const { flush, ...observed } = await openObservation(settings);
  const { server, database, databaseWatch } = createOwnDatabase(settings, observed);
  const egress = createEgressAdapters(settings, { ...observed, server, alsoHidden });
  const callLog = await openCallLog(settings, { ...observed, database, http: egress.ports.http });
  const { approvers, ports: kept } = callLog;
  const coordination = await openCoordination(settings, observed);
  const watched = reread && new WatchedSettings({ ...observed, file: settings.configFile, read: reread });
  const keys = await openKeys(settings, { ...observed, ...egress.ports, database, announce, watched });
  const agents = await openAgents(settings, { ...observed, ...egress.ports, database });
  const oauth = await openOAuth(settings, { ...observed, ...egress.ports, database, agents });
  const keyCheck = openKeyCheck({ ...observed, agents, oauth });
  const assignments = openAssignments({ ...observed, database });
  const sessions = openSessions(settings, { ...observed, database });
  const loopLag = new EventLoopLag(observed.clock);
  const { recordings, replaySource } = await openRecordings(settings, observed);
  const ports: OutsidePorts = {
    ...observed,
    ...egress.ports,
    ...coordination.ports,
    ...kept,
    authenticator: keys.authenticator,
    callRules: callRulesOf(settings),
    trustedDefinitions: await openFileTrustedDefinitions(join(settings.own_dir, 'pins.json'), observed),
    idempotency: new SqlIdempotencyStore(database.db),
    loopLag,
    recordings,
    replaySource,
    sessionGate: sessions.gate,
    specs: new SqlSpecStore(database.db),
  };
  const asyncParts = asyncPartsOf(settings, { ...coordination, ...observed, database });
  const own = { database, server, databaseWatch, watched, keys, agents, oauth, keyCheck, assignments };
  const looking = { ...own, sessions, loopLag };
  const streamParking = await openStreamParking(coordination.redis, observed);
  const close = closerOf({ looking, egress, coordination, recordings, callLog, flush, ...own });
  const degraded = () => degradedOf({ ...callLog, ...kept, ...own, coordination });
  const history = historyWithAccounts(callLog.history, oauth.keeper);
  const shown = { degraded, history, approvers, asyncParts, streamParking };
  return { ports, ...observed, ...own, ...shown, sessions, close };
}

function asyncPartsOf(
  { async, limits, approvals }: Settings,
  stores: Pick<AsyncPartsNeeds, 'database' | 'redis' | 'clock' | 'log'>,
): AsyncParts {
  return createAsyncParts({
    ...stores,
    maxWaitMs: async.max_wait_ms,
    maxPending: limits.max_pending_approvals,
    hooks: approvals.notify,
  });
}

interface Looking {
  readonly watched: WatchedSettings | undefined;
  readonly agents: Agents;
  readonly oauth: OAuthParts;
  readonly keyCheck: KeyCheck;
  readonly assignments: Assignments;
  readonly keys: Keys;
  readonly sessions: SessionParts;
  readonly databaseWatch: DatabaseWatch;
  readonly loopLag: EventLoopLag;
}

async function stopLooking({
  watched,
  agents,
  oauth,
  keyCheck,
  assignments,
  keys,
  sessions,
  databaseWatch,
  loopLag,
}: Looking): Promise<void> {
  agents.followed.stop();
  keyCheck.stop();
  agents.keyServices.stop();
  await oauth.stop();
  assignments.followed.stop();
  sessions.known.stop();
  keys.stop();
  await watched?.stop();
  await databaseWatch.stop();
  loopLag.stop();
}

interface Opened {
  readonly looking: Looking;
  readonly egress: { close(): Promise<unknown> };
  readonly coordination: Coordination;
  readonly recordings: { close(): Promise<unknown> };
  readonly callLog: CallLog;
  readonly database: GatewayDatabase;
  readonly server: EmbeddedPostgres;
  readonly flush: () => Promise<void>;
}

/** In the order in which they need each other. */
function closerOf({ looking, egress, coordination, recordings, callLog, database, server, flush }: Opened) {
  return async (withinMs = CLOSE_WITHIN_MS): Promise<void> => {
    await stopLooking(looking);
    await egress.close();
    await coordination.close();
    await recordings.close();
    await callLog.close(withinMs);
    await database.close();
    await server.stop();
    await flush();
  };
}

function createOwnDatabase(settings: Settings, { clock, log, metrics }: Observation) {
  const server = embeddedPostgres(settings, log);
  const where = databaseSettings(settings, server);
  const degraded = degradedGauge(metrics, 'database');
  const database = new GatewayDatabase(where, { clock, log });
  const { fullDisk } = database;
  const databaseWatch = new DatabaseWatch({ settings: where, clock, log, degraded, fullDisk });
  return { server, database, databaseWatch };
}
