// The callers of the fault suites, the ledger of what they were told, and what has to be true of it at the end.
import { setTimeout as pause } from 'node:timers/promises';
import { callIdOf, type AnswerMeta } from './async-client.ts';
import { newRef, type FaultBench, type Replica } from './fault-bench.ts';
import { CALL_HISTORY } from './call-history-sql.ts';
import { eventually } from './eventually.ts';

type Way = 'direct' | 'async' | 'keyed';

interface Told {
  readonly ref: string;
  readonly way: Way;
  /** 0: the connection broke. */
  readonly status: number;
  /** Of an accepted call: the one that runs. */
  readonly callId: string;
  readonly ok: boolean;
  readonly type: string;
  readonly reason: string;
  readonly mayHaveActed: boolean;
}

interface Body {
  readonly ok?: boolean;
  readonly error?: { readonly type: string; readonly reason: string; readonly partial_side_effects: boolean };
  readonly meta?: AnswerMeta;
}

export interface Asking {
  readonly tool?: string;
  readonly way?: Way;
  readonly ms?: number;
  /** An idempotency key; `keyed` has its own. */
  readonly key?: string;
}

const WORK_MS = 40;
/** A client that is refused comes back a little later. */
const PATIENCE_MS = 50;
const SETTLED_MS = 90_000;
const WAYS: readonly Way[] = ['direct', 'async', 'keyed'];

export class FaultLoad {
  readonly told: Told[] = [];
  readonly #bench: FaultBench;
  #stopping = false;
  #callers: readonly Promise<void>[] = [];

  constructor(bench: FaultBench) {
    this.#bench = bench;
  }

  /** One call; with a key it is repeated, as a client would, until the answer says how it ended. */
  async ask(
    replica: Replica,
    ref: string,
    { tool = 'pay', way = 'direct', ms = WORK_MS, key = way === 'keyed' ? ref : '' }: Asking = {},
  ): Promise<Told> {
    for (let tries = 1; ; tries += 1) {
      const told = await this.#once(replica, ref, { tool, way, ms, key });
      this.told.push(told);
      const again =
        way === 'keyed' &&
        (told.status === 0 || told.status === 503 || told.reason === 'IDEMPOTENCY_IN_FLIGHT');
      if (!again || tries >= 100 || this.#stopping) return told;
      await pause(PATIENCE_MS);
    }
  }

  /** Callers that ask one gateway after the other, in all ways, until `stop`. */
  begin(callers: number): void {
    this.#callers = Array.from({ length: callers }, (_, index) => this.#caller(index));
  }

  /** Resolves when the last answer is there. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#callers);
  }

  async #caller(index: number): Promise<void> {
    const { replicas } = this.#bench;
    for (let turn = index; !this.#stopping; turn += 1) {
      const replica = replicas[turn % replicas.length] as Replica;
      const way = WAYS[Math.floor(turn / replicas.length) % WAYS.length];
      const { ok } = await this.ask(replica, newRef(), { way });
      if (!ok) await pause(PATIENCE_MS);
    }
  }

  async #once(
    { url, key: credential }: Replica,
    ref: string,
    { tool, way, ms, key }: Required<Asking>,
  ): Promise<Told> {
    const headers: Record<string, string> = {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
    };
    if (way === 'async') headers['prefer'] = 'respond-async';
    if (key !== '') headers['idempotency-key'] = key;
    try {
      const body = JSON.stringify({ arguments: { ref, ms } });
      const response = await fetch(`${url}/v1/tools/${tool}/execute`, { method: 'POST', headers, body });
      return toldOf(ref, way, response.status, (await response.json()) as Body);
    } catch {
      return toldOf(ref, way, 0, {});
    }
  }

  /**
   * What is not as it must be whatever broke; nothing, if all is well. It is asked of the upstream and of the records,
   * not of the gateways, once every call has ended.
   */
  async violations(): Promise<readonly string[]> {
    const { upstream } = this.#bench;
    const direct = this.told.filter(({ way }) => way !== 'async');
    const open = await this.#unended();
    const statuses = await this.#statuses();
    return [
      ...open.map((id) => `${id} has no end`),
      ...(await this.#endedTwice()).map((id) => `${id} has another number of ends than one`),
      ...refsOf(this.told, ({ ref }) => upstream.runs(ref) > 1).map((ref) => `${ref} ran twice`),
      ...refsOf(direct, ({ ref, ok }) => ok && upstream.runs(ref) !== 1).map(
        (ref) => `${ref} succeeded and did not run`,
      ),
      ...refsOf(direct, (told) => deniedAll(told) && upstream.runs(told.ref) > 0).map(
        (ref) => `${ref} acted, it was said not to`,
      ),
      ...refsOf(direct, ({ ok, callId }) => ok && statuses.get(callId) !== 'succeeded').map(
        (ref) => `${ref} is on record as failed`,
      ),
      ...refsOf(this.accepted, ({ ref, callId }) =>
        this.#isLost(statuses.get(callId), upstream.runs(ref)),
      ).map((ref) => `${ref} was accepted and is lost`),
    ];
  }

  /** Accepted calls that have not run once and succeeded. */
  async unfinished(): Promise<readonly string[]> {
    const statuses = await this.#statuses();
    const done = ({ ref, callId }: Told) =>
      statuses.get(callId) === 'succeeded' && this.#bench.upstream.runs(ref) === 1;
    return refsOf(this.accepted, (told) => !done(told));
  }

  get accepted(): readonly Told[] {
    return this.told.filter(({ status, way }) => way === 'async' && status === 202);
  }

  /** Its owner died, which is on record, or it has run once. */
  #isLost(status: unknown, runs: number): boolean {
    return status !== 'outcome_unknown' && !(status === 'succeeded' && runs === 1);
  }

  /** In the history, each call is a row that has ended; waits for those that have not. */
  async #unended(): Promise<readonly string[]> {
    const ids = this.told.map(({ callId }) => callId).filter((id) => id !== '');
    const left = async () => {
      const rows = await this.#bench.postgres.sql(
        `SELECT id FROM calls WHERE status IN ('queued', 'running')
         UNION SELECT id FROM unnest($1::text[]) AS told (id)
           WHERE NOT EXISTS (SELECT FROM ${CALL_HISTORY} AS call WHERE call.id = told.id)`,
        [ids],
      );
      return rows.map(({ id }) => String(id));
    };
    return eventually(async () => (await left()).length === 0, 'every call has ended', SETTLED_MS).then(
      () => [],
      left,
    );
  }

  /** In the audit log, each has one record of how it ended. */
  async #endedTwice(): Promise<readonly string[]> {
    const rows = await this.#bench.postgres.sql(
      `SELECT call_id FROM audit_trail JOIN ${CALL_HISTORY} AS call ON call.id = call_id
       WHERE call.kind = 'sync' AND audit_trail.kind IN ('outcome', 'reconciled') GROUP BY call_id HAVING count(*) <> 1`,
    );
    return rows.map((row) => String(row['call_id']));
  }

  async #statuses(): Promise<Map<unknown, unknown>> {
    const ids = this.told.map(({ callId }) => callId);
    const rows = await this.#bench.postgres.sql(
      `SELECT id, status FROM ${CALL_HISTORY} AS call WHERE id = ANY($1::text[])`,
      [ids],
    );
    return new Map(rows.map(({ id, status }) => [id, status]));
  }
}

function toldOf(ref: string, way: Way, status: number, { ok = false, error, meta }: Body): Told {
  return {
    ref,
    way,
    status,
    callId: meta === undefined ? '' : callIdOf(meta),
    ok,
    type: error?.type ?? '',
    reason: error?.reason ?? '',
    mayHaveActed: error?.partial_side_effects ?? true,
  };
}

function refsOf(told: readonly Told[], where: (one: Told) => boolean): readonly string[] {
  return [...new Set(told.filter(where).map(({ ref }) => ref))];
}

/** An answer that says that nothing has happened. With a key, only the last answer speaks of all of them. */
function deniedAll({ way, status, ok, mayHaveActed }: Told): boolean {
  return way === 'direct' && status > 0 && !ok && !mayHaveActed;
}
