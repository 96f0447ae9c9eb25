// LeaseSlots: who holds how many slots of which lease, and who waits for one.
import type { LeaseRule } from '../../../ports/admission-control.ts';
import { FairQueue } from './fair-queue.ts';

/** The slots of one lease key. */
interface Lease<W> {
  /** As the newest request states it: a reload changes it for everybody at once. */
  limit: number;
  inUse: number;
  queue: FairQueue<W> | undefined;
  /** Moving average of how long a slot was held; undefined until one was given back. */
  meanHoldMs: number | undefined;
}

/** A request that waits, on all of its leases at once. */
export interface Waiter {
  readonly fairnessKey: string;
  readonly leases: readonly LeaseRule[];
}

/** Weight of the newest hold time in the moving average. */
const NEWEST = 0.2;
/** How long a slot is taken to be held until one was given back. */
const ASSUMED_HOLD_MS = 1000;

export class LeaseSlots<W extends Waiter> {
  readonly #leases = new Map<string, Lease<W>>();

  get size(): number {
    return this.#leases.size;
  }

  /** True if the rule is stated with more slots than before while somebody waits for one. */
  restate(rule: LeaseRule): boolean {
    const lease = this.#leases.get(rule.key);
    if (lease === undefined || lease.limit === rule.limit) return false;
    const raised = rule.limit > lease.limit;
    lease.limit = rule.limit;
    return raised && lease.queue !== undefined;
  }

  /** The first lease with no slot free. */
  firstFull(leases: readonly LeaseRule[]): LeaseRule | undefined {
    for (const rule of leases) if (this.isFull(rule)) return rule;
    return undefined;
  }

  isFull(rule: LeaseRule): boolean {
    const lease = this.#leases.get(rule.key);
    return lease === undefined ? rule.limit < 1 : lease.inUse >= lease.limit;
  }

  take(leases: readonly LeaseRule[]): void {
    for (const rule of leases) {
      const lease = this.#leases.get(rule.key);
      if (lease === undefined) this.#open(rule).inUse = 1;
      else lease.inUse += 1;
    }
  }

  giveBack(leases: readonly LeaseRule[], heldMs: number): void {
    for (const rule of leases) {
      const lease = this.#leases.get(rule.key);
      if (lease === undefined) continue;
      lease.inUse -= 1;
      const mean = lease.meanHoldMs;
      lease.meanHoldMs = mean === undefined ? heldMs : mean + (heldMs - mean) * NEWEST;
      this.#closeIfIdle(rule.key, lease);
    }
  }

  /** Slots of the key that are taken. */
  inUse(key: string): number {
    return this.#leases.get(key)?.inUse ?? 0;
  }

  queueLength(rule: LeaseRule): number {
    return this.#leases.get(rule.key)?.queue?.size ?? 0;
  }

  wait(waiter: W): void {
    for (const rule of waiter.leases) {
      const lease = this.#leases.get(rule.key) ?? this.#open(rule);
      lease.queue ??= new FairQueue();
      lease.queue.join(waiter.fairnessKey, waiter);
    }
  }

  stopWaiting(waiter: W, served: boolean): void {
    for (const rule of waiter.leases) {
      const lease = this.#leases.get(rule.key);
      if (lease?.queue === undefined) continue;
      lease.queue.leave(waiter.fairnessKey, waiter, served);
      if (lease.queue.size === 0) lease.queue = undefined;
      this.#closeIfIdle(rule.key, lease);
    }
  }

  /** The waiter whose turn it is at this lease and for whom every slot is free. */
  nextFor(key: string): W | undefined {
    const lease = this.#leases.get(key);
    if (lease?.queue === undefined || lease.inUse >= lease.limit) return undefined;
    return lease.queue.find((waiter) => this.firstFull(waiter.leases) === undefined);
  }

  /** The waiter whose turn it is at this lease, of those that fit. */
  find(key: string, fits: (waiter: W) => boolean): W | undefined {
    return this.#leases.get(key)?.queue?.find(fits);
  }

  /** When a slot may be had, if all who wait and this one are served at the usual pace; at least 1. */
  retryAfterMs(rule: LeaseRule): number {
    const holdMs = this.#leases.get(rule.key)?.meanHoldMs ?? ASSUMED_HOLD_MS;
    return Math.max(1, Math.ceil(((this.queueLength(rule) + 1) * holdMs) / Math.max(1, rule.limit)));
  }

  #open(rule: LeaseRule): Lease<W> {
    const lease: Lease<W> = { limit: rule.limit, inUse: 0, queue: undefined, meanHoldMs: undefined };
    this.#leases.set(rule.key, lease);
    return lease;
  }

  #closeIfIdle(key: string, lease: Lease<W>): void {
    if (lease.inUse === 0 && lease.queue === undefined) this.#leases.delete(key);
  }
}
