// ManagementActs: what people do on the management side: allowed or refused, done, and written down with who did it.
import type { FastifyRequest } from 'fastify';
import type { JsonValue } from '../../contract/json.ts';
import type { Principal } from '../../contract/call/principal.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { uuidv7 } from '../../lib/ids.ts';
import type { AuditRecord, AuditSink } from '../../ports/audit-sink.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { demand, refuseWrongQuery } from './management.ts';
import { credentialOf } from './read-call.ts';

export interface Act {
  /** What was done, as `resource.verb`. */
  readonly action: string;
  /** What the credential must hold; left out: the work itself asks. */
  readonly permission?: string;
  /** What it was done to: a name or an id. */
  readonly target?: string;
  readonly tool?: string;
  readonly callId?: string;
  /** True for an emergency stop: done even where it cannot be recorded, and then the log alone knows. */
  readonly urgent?: boolean;
  /** True where the work keeps its own record of what it has done: only refusals are recorded here. */
  readonly recordsItself?: boolean;
}

/** Of a tenant other than the caller's: it finds the act in its own records as well. */
export type Affects = (tenantId: string) => void;

type Outcome = Pick<AuditRecord, 'outcome' | 'reason'>;

const DONE: Outcome = { outcome: 'ok', reason: '' };
const MAX_TARGET = 200;

export class ManagementActs {
  readonly #authenticator: Authenticator;
  readonly #sink: AuditSink;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(authenticator: Authenticator, sink: AuditSink, clock: Clock, log: Log) {
    this.#authenticator = authenticator;
    this.#sink = sink;
    this.#clock = clock;
    this.#log = log;
  }

  /** Throws ToolFailure: AUTH, PERMISSION_DENIED, UNAVAILABLE (AUDIT_UNAVAILABLE), and whatever the work throws. */
  async perform<Result>(
    request: FastifyRequest,
    act: Act,
    work: (principal: Principal, affects: Affects) => Promise<Result> | Result,
  ): Promise<Result> {
    const principal = this.#authenticator.authenticate(credentialOf(request.headers));
    const tenants = new Set([principal.tenantId]);
    const record = (outcome: Outcome) => this.#record(principal, tenants, act, outcome);
    try {
      if (act.permission !== undefined) demand(principal, act.permission);
      refuseWrongQuery(request);
      // Asked first: nothing is done of which we already know that it cannot be recorded.
      if (act.urgent !== true) await this.#sink.ready();
      const result = await work(principal, (tenantId) => tenants.add(tenantId));
      if (act.recordsItself === true) return result;
      const recorded = record(DONE);
      await (act.urgent === true ? recorded.catch(() => undefined) : recorded);
      return result;
    } catch (error) {
      if (error instanceof ToolFailure && error.reason !== 'AUDIT_UNAVAILABLE')
        await record({ outcome: error.type, reason: error.reason }).catch(() => undefined);
      throw error;
    }
  }

  async #record(
    { id, userId = '' }: Principal,
    tenants: ReadonlySet<string>,
    act: Act,
    outcome: Outcome,
  ): Promise<void> {
    const { action, target = '', tool = '', callId = '' } = act;
    this.#log.info({ action, target, by: id, ...outcome }, 'an act on the management side');
    const now = this.#clock.wall();
    const notes: Record<string, JsonValue> = { action, target: target.slice(0, MAX_TARGET) };
    const records = [...tenants].map((tenant) => ({
      ...NO_CALL,
      ...outcome,
      eventId: uuidv7(now),
      at: new Date(now).toISOString(),
      principal: id,
      user: userId,
      tenant,
      callId: callId.slice(0, MAX_TARGET),
      requestedTool: tool.slice(0, MAX_TARGET),
      tool: tool.slice(0, MAX_TARGET),
      notes,
    }));
    await Promise.all(records.map((each) => this.#sink.write(each)));
  }
}

/** What an audit record says of a call, where there was none. */
const NO_CALL = {
  kind: 'management',
  callKind: '',
  door: 'rest',
  agent: '',
  session: '',
  toolVersion: '',
  executor: '',
  argumentsHash: '',
  readOnly: false,
  idempotent: false,
  attempts: 0,
  durationMs: 0,
  remainingMs: 0,
  partialSideEffects: false,
  registryVersion: '',
  traceId: '',
} as const;
