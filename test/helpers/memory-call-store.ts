// MemoryCallStore: rows of calls in memory, for specs of what stands around a CallStore. Only a test ends a lease.
import type {
  Again,
  CallEnd,
  CallStore,
  CancelOutcome,
  Claim,
  ClaimedCall,
  FirstClaim,
  NewCall,
  QueueState,
  RetryOutcome,
  StoredCall,
  StoredEvent,
} from '../../src/ports/calls/call-store.ts';
import { retryOutcomeOf } from '../../src/ports/retry-outcome.ts';
import { storedCall } from './async-kit.ts';

export class MemoryCallStore implements CallStore {
  readonly rows = new Map<string, StoredCall>();
  readonly ends = new Map<string, CallEnd>();
  readonly delays: number[] = [];
  readonly said = new Map<string, StoredEvent[]>();
  readonly #owners = new Map<string, string>();

  async accept(call: NewCall, _maxQueued: number, claim?: FirstClaim): Promise<void> {
    if (this.rows.has(call.id)) return;
    this.rows.set(call.id, storedCall({ ...call }));
    if (claim !== undefined) this.#begin(call.id, claim.owner);
  }

  async claim(owner: string, _leaseMs: number, limit: number): Promise<readonly ClaimedCall[]> {
    const waiting = [...this.rows.values()].filter(({ status }) => status === 'queued');
    return waiting.slice(0, limit).map(({ id }) => this.#begin(id, owner));
  }

  async reclaim(owner: string): Promise<readonly ClaimedCall[]> {
    const own = [...this.rows.values()].filter(
      ({ id, status }) => status === 'running' && this.#owners.get(id) === owner,
    );
    return own.map(claimedOf);
  }

  async renew(claims: readonly Claim[]): Promise<readonly (Claim & { readonly cancelRequested: boolean })[]> {
    const held = claims.filter((claim) => this.#holds(claim));
    return held.map(({ id, claim }) => ({
      id,
      claim,
      cancelRequested: this.rows.get(id)?.cancelRequested ?? false,
    }));
  }

  async finish(claim: Claim, end: CallEnd): Promise<boolean> {
    if (!this.#holds(claim)) return false;
    const { envelope, status, errorType, reason, partialSideEffects } = end;
    this.ends.set(claim.id, end);
    const finishedAt = new Date(0);
    this.#change(claim.id, { envelope, status, errorType, reason, partialSideEffects, finishedAt });
    return true;
  }

  async giveBack(claim: Claim, delayMs: number): Promise<boolean> {
    if (!this.#holds(claim)) return false;
    this.delays.push(delayMs);
    this.#change(claim.id, { status: 'queued' });
    return true;
  }

  async sweep(): Promise<readonly (Claim & { readonly status: StoredCall['status'] })[]> {
    return [];
  }

  async get(tenantId: string, id: string): Promise<StoredCall | undefined> {
    const row = this.rows.get(id);
    return row?.tenantId === tenantId ? row : undefined;
  }

  async cancel(tenantId: string, id: string): Promise<CancelOutcome | undefined> {
    const row = await this.get(tenantId, id);
    if (row === undefined) return undefined;
    if (row.finishedAt !== null) return 'ended';
    const waits = row.status === 'queued';
    this.#change(id, waits ? { status: 'cancelled', finishedAt: new Date(0) } : { cancelRequested: true });
    return waits ? 'cancelled' : 'requested';
  }

  async retry(tenantId: string, id: string, { force, request }: Again): Promise<RetryOutcome | undefined> {
    const row = await this.get(tenantId, id);
    if (row === undefined) return undefined;
    const outcome = retryOutcomeOf(row, force);
    if (outcome === 'queued') this.#change(id, { status: 'queued', finishedAt: null, request });
    return outcome;
  }

  async approvalShown(tenantId: string, id: string): Promise<void> {
    const row = await this.get(tenantId, id);
    if (row?.status === 'waiting_approval' && row.approval !== undefined)
      this.#change(id, { approval: { ...row.approval, shown: true } });
  }

  async appendEvents(id: string, events: readonly StoredEvent[]): Promise<void> {
    this.said.set(id, [...(this.said.get(id) ?? []), ...events]);
  }

  async lastEvent(id: string): Promise<number> {
    return this.said.get(id)?.at(-1)?.seq ?? 0;
  }

  async events(id: string, afterSeq: number, limit: number): Promise<readonly StoredEvent[]> {
    return (this.said.get(id) ?? []).filter(({ seq }) => seq > afterSeq).slice(0, limit);
  }

  async state(): Promise<QueueState> {
    return { waitingApproval: 0, queued: 0, running: 0, oldestWaitingSeconds: 0 };
  }

  /** Another replica has it now. */
  loseClaim(id: string): void {
    this.#begin(id, 'another');
  }

  #begin(id: string, owner: string): ClaimedCall {
    const row = this.rows.get(id);
    if (row === undefined) throw new Error(`there is no call ${id}`);
    this.#owners.set(id, owner);
    this.#change(id, { status: 'running', claim: row.claim + 1, runs: row.runs + 1 });
    return claimedOf(this.rows.get(id) ?? row);
  }

  #holds({ id, claim }: Claim): boolean {
    const row = this.rows.get(id);
    return row?.status === 'running' && row.claim === claim;
  }

  #change(id: string, changes: Partial<StoredCall>): void {
    const row = this.rows.get(id);
    if (row !== undefined) this.rows.set(id, { ...row, ...changes });
  }
}

function claimedOf({
  id,
  claim,
  tenantId,
  tool,
  idempotent,
  readOnly,
  runs,
  request = '',
}: StoredCall): ClaimedCall {
  return { id, claim, kind: 'async', tenantId, tool, idempotent, readOnly, run: runs, request };
}
