// Declared sessions: their store, what this replica knows of them, and the gate that calls pass.
import { parseDuration } from '../../lib/text/duration.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SessionGate } from '../../ports/sessions/session-gate.ts';
import type { SessionStore } from '../../ports/sessions/session-store.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { SqlSessionStore } from '../../infra/sessions/sql-session-store.ts';
import type { GatewayDatabase } from '../../infra/postgres/gateway-database.ts';
import { KnownSessions } from '../../sessions/known-sessions.ts';
import { DeclaredSessions } from '../../sessions/session-gate.ts';
import { SessionTools } from '../../sessions/session-tools.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';

export interface SessionParts {
  readonly store: SessionStore;
  /** To be stopped before the database is closed. */
  readonly known: KnownSessions;
  readonly gate: SessionGate;
  readonly idleMs: number;
  readonly maxAgeMs: number;
}

interface Needs {
  readonly database: Pick<GatewayDatabase, 'db'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export function openSessions({ sessions }: Settings, { database, clock, log, metrics }: Needs): SessionParts {
  const store = new SqlSessionStore(database.db);
  const unread = metrics.gauge(ACCESS_SERIES.ute_sessions_unread).with();
  const known = new KnownSessions({ store, clock, log, unread });
  // It asks nothing before a session is known.
  known.start();
  const tools = new SessionTools(store);
  const gate = new DeclaredSessions({ known, tools, clock, required: sessions.required });
  return { store, known, gate, idleMs: msOf(sessions.idle), maxAgeMs: msOf(sessions.max_age) };
}

function msOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new Error(`the duration "${text}" passed its check and is none`);
  return ms;
}
