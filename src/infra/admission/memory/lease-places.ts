// LeasePlaces: who holds how many places of which lease, and who waits for one.
import type { LeaseRule } from '../../../ports/admission-control.ts';
import { FairQueue } from './fair-queue.ts';

/** The places of one lease key. */
interface Place<W> {
  /** As the newest request states it: a reload changes it for everybody at once. */
  limit: number;
  inUse: number;
  queue: FairQueue<W> | undefined;
  /** Moving average of how long a place was held; undefined until one was given back. */
  meanHoldMs: number | undefined;
}

/** A request that waits, on all of its leases at once. */
export interface Waiter {
  readonly fairnessKey: string;
  readonly leases: readonly LeaseRule[];
}

/** Weight of the newest hold time in the moving average. */
const NEWEST = 0.2;
/** How long a place is taken to be held until one was given back. */
const ASSUMED_HOLD_MS = 1000;

export class LeasePlaces<W extends Waiter> {
  readonly #places = new Map<string, Place<W>>();

  get size(): number {
    return this.#places.size;
  }

  /** True if the rule is stated with more places than before while somebody waits for one. */
  restate(rule: LeaseRule): boolean {
    const place = this.#places.get(rule.key);
    if (place === undefined || place.limit === rule.limit) return false;
    const raised = rule.limit > place.limit;
    place.limit = rule.limit;
    return raised && place.queue !== undefined;
  }

  /** The first lease with no place free. */
  firstFull(leases: readonly LeaseRule[]): LeaseRule | undefined {
    for (const rule of leases) if (this.isFull(rule)) return rule;
    return undefined;
  }

  isFull(rule: LeaseRule): boolean {
    const place = this.#places.get(rule.key);
    return place === undefined ? rule.limit < 1 : place.inUse >= place.limit;
  }

  take(leases: readonly LeaseRule[]): void {
    for (const rule of leases) {
      const place = this.#places.get(rule.key);
      if (place === undefined) this.#open(rule).inUse = 1;
      else place.inUse += 1;
    }
  }

  giveBack(leases: readonly LeaseRule[], heldMs: number): void {
    for (const rule of leases) {
      const place = this.#places.get(rule.key);
      if (place === undefined) continue;
      place.inUse -= 1;
      const mean = place.meanHoldMs;
      place.meanHoldMs = mean === undefined ? heldMs : mean + (heldMs - mean) * NEWEST;
      this.#closeIfIdle(rule.key, place);
    }
  }

  /** Places of the key that are taken. */
  inUse(key: string): number {
    return this.#places.get(key)?.inUse ?? 0;
  }

  queueLength(rule: LeaseRule): number {
    return this.#places.get(rule.key)?.queue?.size ?? 0;
  }

  wait(waiter: W): void {
    for (const rule of waiter.leases) {
      const place = this.#places.get(rule.key) ?? this.#open(rule);
      place.queue ??= new FairQueue();
      place.queue.join(waiter.fairnessKey, waiter);
    }
  }

  stopWaiting(waiter: W, served: boolean): void {
    for (const rule of waiter.leases) {
      const place = this.#places.get(rule.key);
      if (place?.queue === undefined) continue;
      place.queue.leave(waiter.fairnessKey, waiter, served);
      if (place.queue.size === 0) place.queue = undefined;
      this.#closeIfIdle(rule.key, place);
    }
  }

  /** The waiter whose turn it is at this lease and for whom every place is free. */
  nextFor(key: string): W | undefined {
    const place = this.#places.get(key);
    if (place?.queue === undefined || place.inUse >= place.limit) return undefined;
    return place.queue.find((waiter) => this.firstFull(waiter.leases) === undefined);
  }

  /** The waiter whose turn it is at this lease, of those that fit. */
  find(key: string, fits: (waiter: W) => boolean): W | undefined {
    return this.#places.get(key)?.queue?.find(fits);
  }

  /** When a place may be had, if all who wait and this one are served at the usual pace; at least 1. */
  retryAfterMs(rule: LeaseRule): number {
    const holdMs = this.#places.get(rule.key)?.meanHoldMs ?? ASSUMED_HOLD_MS;
    return Math.max(1, Math.ceil(((this.queueLength(rule) + 1) * holdMs) / Math.max(1, rule.limit)));
  }

  #open(rule: LeaseRule): Place<W> {
    const place: Place<W> = { limit: rule.limit, inUse: 0, queue: undefined, meanHoldMs: undefined };
    this.#places.set(rule.key, place);
    return place;
  }

  #closeIfIdle(key: string, place: Place<W>): void {
    if (place.inUse === 0 && place.queue === undefined) this.#places.delete(key);
  }
}
