// What the gateway does without now, by component, each in a sentence for the operator.
import { keysDoNotOpen, type KeyCheck } from '../../core/agents/key-check.ts';
import { ASSIGNMENTS_AWAY } from '../../infra/assignments/followed-assignments.ts';
import type { StoredAuditSink } from '../../infra/audit/stored-audit-sink.ts';
import type { EmbeddedPostgres } from '../../infra/embedded-postgres/embedded-postgres.ts';
import { DISK_FULL, type DatabaseWatch } from '../../infra/postgres/database-watch.ts';
import type { Degraded } from '../../infra/telemetry/degraded-gauge.ts';
import type { Agents } from './open-agents.ts';
import type { Assignments } from './open-assignments.ts';
import type { CallLog } from './open-call-log.ts';
import type { Coordination } from './open-coordination.ts';
import type { Keys } from './open-keys.ts';
import type { OAuthParts } from './open-oauth.ts';

export interface Watched {
  readonly databaseWatch: DatabaseWatch;
  readonly server: EmbeddedPostgres;
  readonly coordination: Coordination;
  readonly auditSink: StoredAuditSink;
  readonly checkpointsAway: CallLog['checkpointsAway'];
  readonly isReplicaAway: CallLog['isReplicaAway'];
  readonly keys: Keys;
  readonly agents: Agents;
  readonly oauth: OAuthParts;
  readonly keyCheck: Pick<KeyCheck, 'unopened'>;
  readonly assignments: Assignments;
}

export function degradedOf(watched: Watched): Degraded {
  const { databaseWatch, server, coordination, auditSink, keys, agents, oauth, assignments } = watched;
  const { refusal } = auditSink;
  const checkpoints = watched.checkpointsAway();
  const { step } = server;
  const state = step === 'stopped' || step === 'running' ? 'away' : step;
  return {
    ...(coordination.isAway() && {
      admission: 'Redis is unreachable: limits are enforced by each replica for itself until it is back',
    }),
    ...(refusal !== undefined && { audit: refusal }),
    ...(checkpoints !== undefined && { audit_checkpoints: checkpoints }),
    ...(watched.isReplicaAway() && {
      history:
        'the read replica of the database is away: lists of calls and audit records are refused until it is back',
    }),
    ...(keys.awayIssuers() > 0 && {
      tokens: `issuers of tokens whose keys cannot be read: ${keys.awayIssuers()}; those that were known stay in force`,
    }),
    ...(agents.keyServices.away().length > 0 && {
      secrets: `the key service of the secrets is away (${agents.keyServices.away().join(', ')}): calls that need a secret whose key is not in memory are refused until it is back`,
    }),
    ...(watched.keyCheck.unopened.length > 0 && { secret_keys: keysDoNotOpen(watched.keyCheck.unopened) }),
    ...(keys.areUnread() && {
      api_keys:
        'the API keys of the database cannot be read: those that were known stay in force, and one that is revoked now may still be let in',
    }),
    ...(agents.followed.isAway && {
      agents:
        'the agents of the database cannot be read: what was configured stays in force, and a tool that is switched off for an agent now may still be called',
    }),
    ...(oauth.known.isAway && {
      accounts:
        'the connected accounts of agents cannot be read: tokens that are known stay in use until they end, and one that is disconnected now may still be used',
    }),
    ...(assignments.followed.isAway && { assignments: ASSIGNMENTS_AWAY }),
    ...(databaseWatch.isFull && { database: DISK_FULL }),
    ...(databaseWatch.isAway && {
      database: `the database is ${state}: API keys and agents stay as they were known, and calls that change something are refused until it is back`,
    }),
  };
}
