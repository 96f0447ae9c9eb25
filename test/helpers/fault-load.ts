// The callers of the fault suites, the ledger of what they were told, and what has to be true of it at the end.
import { expect } from 'vitest';
import { newRef, type FaultBench, type Replica } from './fault-bench.ts';

type Way = 'direct' | 'async' | 'keyed';

interface Told {
  readonly ref: string;
  readonly way: Way;
  /** 0: the connection broke. */
  readonly status: number;
  readonly callId: string;
  readonly ok: boolean;
  readonly type: string;
  readonly reason: string;
  readonly mayHaveActed: boolean;
}

interface Body {
  readonly ok?: boolean;
  readonly error?: { readonly type: string; readonly reason: string; readonly partial_side_effects: boolean };
  readonly meta?: { readonly call_id: string; readonly status?: string };
}

export interface Asking {
  readonly tool?: string;
  readonly way?: Way;
  readonly ms?: number;
}

const WORK_MS = 40;
/** A client that is refused comes back a little later. */
const PATIENCE_MS = 50;
const SETTLED = { timeout: 45_000, interval: 100 };
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
  async ask(replica: Replica, ref: string, { tool = 'pay', way = 'direct', ms = WORK_MS }: Asking = {}): Promise<Told> {
    for (let tries = 1; ; tries += 1) {
      const told = await this.#once(replica, ref, { tool, way, ms });
      this.told.push(told);
      const again = way === 'keyed' && (told.status === 0 || told.status === 503 || told.reason === 'IDEMPOTENCY_IN_FLIGHT');
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

  get #accepted(): readonly Told[] {
    return this.told.filter(({ status, way }) => way === 'async' && status === 202);
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

  async #once({ url, key }: Replica, ref: string, { tool, way, ms }: Required<Asking>): Promise<Told> {
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    if (way === 'async') headers['prefer'] = 'respond-async';
    if (way === 'keyed') headers['idempotency-key'] = ref;
    try {
      const body = JSON.stringify({ arguments: { ref, ms } });
      const response = await fetch(`${url}/v1/tools/${tool}/execute`, { method: 'POST', headers, body });
      return toldOf(ref, way, response.status, (await response.json()) as Body);
    } catch {
      return toldOf(ref, way, 0, {});
    }
  }

  /** What must hold whatever broke: asked of the upstream and of the records, not of the gateways. */
  async expectKept(): Promise<void> {
    const { upstream } = this.#bench;
    const twice = this.told.filter(({ ref }) => upstream.runs(ref) > 1);
    expect(twice, 'a tool that may not be repeated ran twice').toEqual([]);
    const unrun = this.told.filter(({ ref, ok, way }) => ok && way !== 'async' && upstream.runs(ref) !== 1);
    expect(unrun, 'a call that succeeded did not run').toEqual([]);
    const denied = this.told.filter(
      ({ ref, way, status, ok, mayHaveActed }) =>
        way === 'direct' && status > 0 && !ok && !mayHaveActed && upstream.runs(ref) > 0,
    );
    expect(denied, 'a call that is said not to have acted did').toEqual([]);
    await this.#expectEnds();
    const statuses = await this.#statuses(this.#accepted);
    const lost = this.#accepted
      .map(({ ref, callId }) => ({ callId, status: statuses.get(callId), runs: upstream.runs(ref) }))
      .filter(({ status, runs }) => status !== 'outcome_unknown' && !(status === 'succeeded' && runs === 1));
    expect(lost, 'accepted calls that are lost').toEqual([]);
  }

  /** Every accepted call, whatever broke, ran and is known to have. */
  async expectAllAcceptedSucceeded(): Promise<void> {
    const accepted = this.#accepted;
    expect(accepted.length, 'calls accepted').toBeGreaterThan(0);
    const statuses = await this.#statuses(accepted);
    const other = accepted
      .map(({ ref, callId }) => [ref, statuses.get(callId), this.#bench.upstream.runs(ref)])
      .filter(([, status, runs]) => status !== 'succeeded' || runs !== 1);
    expect(other, 'accepted calls that did not succeed').toEqual([]);
  }

  /** One end each: in the history a row that has ended, in the audit log one record of how. */
  async #expectEnds(): Promise<void> {
    const { postgres } = this.#bench;
    const ids = [...new Set(this.told.map(({ callId }) => callId).filter((id) => id !== ''))];
    await expect
      .poll(() => postgres.sql("SELECT id, kind, status, tool FROM calls WHERE status IN ('queued', 'running')"), SETTLED)
      .toEqual([]);
    await expect
      .poll(
        () =>
          postgres.sql('SELECT id FROM unnest($1::text[]) AS told (id) WHERE NOT EXISTS (SELECT FROM calls WHERE calls.id = told.id)', [ids]),
        SETTLED,
      )
      .toEqual([]);
    const twice = await postgres.sql(
      `SELECT call_id FROM audit_records JOIN calls ON calls.id = call_id
       WHERE calls.kind = 'sync' AND audit_records.kind IN ('outcome', 'reconciled') GROUP BY call_id HAVING count(*) <> 1`,
    );
    expect(twice, 'calls with another number of ends than one').toEqual([]);
    const succeeded = this.told.filter(({ ok, way }) => ok && way !== 'async');
    const statuses = await this.#statuses(succeeded);
    expect(
      succeeded.filter(({ callId }) => statuses.get(callId) !== 'succeeded'),
      'calls that succeeded, and whose record says otherwise',
    ).toEqual([]);
  }

  async #statuses(told: readonly Told[]): Promise<Map<unknown, unknown>> {
    const rows = await this.#bench.postgres.sql('SELECT id, status FROM calls WHERE id = ANY($1::text[])', [
      told.map(({ callId }) => callId),
    ]);
    return new Map(rows.map(({ id, status }) => [id, status]));
  }
}

function toldOf(ref: string, way: Way, status: number, { ok = false, error, meta }: Body): Told {
  return {
    ref,
    way,
    status,
    callId: meta?.call_id ?? '',
    ok,
    type: error?.type ?? '',
    reason: error?.reason ?? '',
    mayHaveActed: error?.partial_side_effects ?? true,
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
