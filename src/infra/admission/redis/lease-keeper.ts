// LeaseKeeper: the leases of this replica's running calls: kept alive in one batch a second, given back in another.
import { PassingMap } from '../../../lib/concurrency/passing-map.ts';
import type { AdmissionRequest, LeaseRule } from '../../../ports/admission-control.ts';
import type { Counter } from '../../../ports/telemetry/metrics.ts';
import type { AdmissionStore, HeldLease, Release, RenewOutcome, RenewReply } from './admission-store.ts';

/** A running call that holds leases. */
export interface LiveCall {
  readonly callId: string;
  readonly leases: readonly LeaseRule[];
  /** False: it was let in without the store, or the store has lost it. */
  known: boolean;
  /** The store may have it all the same: it was asked and the answer did not come. */
  readonly suspected: boolean;
  /** Monotonic ms. */
  renewedAt: number;
  renewAt: number;
  lost: boolean;
  onLost: (() => void) | undefined;
}

export interface KeeperDeps {
  readonly store: AdmissionStore;
  readonly leaseTtlMs: number;
  /** Between two batches. */
  readonly tickMs: number;
  readonly random: () => number;
  readonly lost: Counter;
  /** There is something for `sendReleases`. */
  onRelease(): void;
}

const MAX_BATCH = 500;
const JITTER = 0.1;

export class LeaseKeeper {
  readonly #deps: KeeperDeps;
  readonly #live = new PassingMap<string, LiveCall>();
  /** With the time until which it is worth trying: later the lease has run out by itself. */
  #releases: { readonly release: Release; readonly until: number }[] = [];

  /** Leases that nobody of this replica waits for any more. */
  readonly #turnsOver = new Set<string>();

  constructor(deps: KeeperDeps) {
    this.#deps = deps;
  }

  get live(): Iterable<LiveCall> {
    return this.#live.values();
  }

  get size(): number {
    return this.#live.size;
  }

  /** `known` says that the store has granted the leases itself; `suspected`, that it may have. */
  hold({ callId, leases }: AdmissionRequest, known: boolean, suspected: boolean): LiveCall {
    const now = performance.now();
    const call: LiveCall = {
      callId,
      leases,
      known,
      suspected,
      renewedAt: now,
      renewAt: known ? now + this.#untilRenewal() : now,
      lost: false,
      onLost: undefined,
    };
    this.#live.set(callId, call);
    return call;
  }

  /** The store is told by the next `sendReleases`. */
  letGo(call: LiveCall): void {
    this.#live.delete(call.callId);
    if (call.known || call.suspected) this.takeBack(call);
  }

  /** For a call that the store has let in, or may have, and that does not run. */
  takeBack({ callId, leases }: Pick<AdmissionRequest, 'callId' | 'leases'>): void {
    const until = performance.now() + this.#deps.leaseTtlMs;
    for (const { key } of leases) this.#releases.push({ release: { key, callId }, until });
    this.#deps.onRelease();
  }

  giveUpTurn(key: string): void {
    this.#turnsOver.add(key);
    this.#deps.onRelease();
  }

  /** Someone may wait again: a turn that was not given up yet stays, or it would be taken from who stands in it then. */
  keepTurn(key: string): void {
    this.#turnsOver.delete(key);
  }

  /** What could not be sent is kept for the next time; throws then. */
  async sendReleases(): Promise<void> {
    const now = performance.now();
    const until = now + this.#deps.leaseTtlMs;
    const turns = [...this.#turnsOver].map((key) => ({ release: { key }, until }));
    const due = [...this.#releases.filter((each) => each.until > now), ...turns];
    this.#releases = [];
    this.#turnsOver.clear();
    for (let from = 0; from < due.length; from += MAX_BATCH) {
      const batch = due.slice(from, from + MAX_BATCH);
      try {
        await this.#deps.store.release(batch.map(({ release }) => release));
      } catch (error) {
        this.#releases.push(...due.slice(from));
        throw error;
      }
    }
  }

  whenLost(call: LiveCall, listener: () => void): void {
    if (call.lost) listener();
    else call.onLost = listener;
  }

  /** Before the store is used again. One that is new has granted none of them. */
  async tellAll(epoch: string, isNew: boolean): Promise<void> {
    if (isNew) for (const call of this.#live.values()) call.known = false;
    await this.sendReleases();
    await this.renew(epoch, true);
  }

  /** Renews what is due, or with `all` everything; always says that this replica lives. */
  async renew(epoch: string, all = false): Promise<RenewReply> {
    const now = performance.now();
    const due = [...this.#live.values()].filter((call) => all || !call.known || call.renewAt <= now);
    const leases = due.flatMap((call) =>
      call.leases.map((rule): HeldLease & { call: LiveCall } => ({
        call,
        rule,
        callId: call.callId,
        isNew: !call.known,
      })),
    );
    let reply = await this.#renewBatch(epoch, leases.slice(0, MAX_BATCH));
    for (let from = MAX_BATCH; from < leases.length && reply.epoch === epoch; from += MAX_BATCH)
      reply = await this.#renewBatch(epoch, leases.slice(from, from + MAX_BATCH));
    return reply;
  }

  /** Calls that may not run without the store and could not be renewed in time. */
  loseUnrenewed(): void {
    const { leaseTtlMs, tickMs } = this.#deps;
    const latest = performance.now() - leaseTtlMs + 2 * tickMs;
    for (const call of this.#live.values()) {
      const strict = call.leases.some(({ onStoreFailure }) => onStoreFailure === 'closed');
      if (strict && call.known && call.renewedAt < latest) this.#lose(call);
    }
  }

  async #renewBatch(
    epoch: string,
    leases: readonly (HeldLease & { readonly call: LiveCall })[],
  ): Promise<RenewReply> {
    const sentAt = performance.now();
    const reply = await this.#deps.store.renew(epoch, leases);
    if (reply.epoch !== epoch) return reply;
    for (const [index, { call }] of leases.entries()) this.#renewed(call, sentAt, reply.outcomes[index]);
    return reply;
  }

  #renewed(call: LiveCall, sentAt: number, outcome: RenewOutcome | undefined): void {
    if (!this.#live.has(call.callId)) {
      // It ended while it was renewed: what was just put there is taken away again.
      this.takeBack(call);
      return;
    }
    call.known = true;
    call.renewedAt = sentAt;
    call.renewAt = sentAt + this.#untilRenewal();
    if (outcome === 'lost') this.#lose(call);
  }

  #lose(call: LiveCall): void {
    if (call.lost) return;
    call.lost = true;
    this.#deps.lost.add();
    call.onLost?.();
  }

  #untilRenewal(): number {
    const { leaseTtlMs, random } = this.#deps;
    return (leaseTtlMs / 3) * (1 + JITTER * (2 * random() - 1));
  }
}
