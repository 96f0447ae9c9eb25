// MemoryAdmissionControl: rate limits, budgets and concurrency leases of one process, decided together in one step.
import type { RateLimitState } from '../../../contract/call/tool-response.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type {
  Admission,
  AdmissionControl,
  AdmissionRequest,
  BudgetRule,
  LeaseRule,
  RateRule,
} from '../../../ports/admission-control.ts';
import type { Clock } from '../../../ports/clock.ts';
import { PassingMap } from '../../../lib/concurrency/passing-map.ts';
import { NO_BUDGETS } from './budget-meters.ts';
import { LeaseSlots, type Waiter } from './lease-slots.ts';
import { Spending } from './spending.ts';

export interface MemoryAdmissionOptions {
  /** Rate meters kept at once, and as many of budgets. With all of them in use, calls under a new key are refused. */
  readonly maxRateKeys?: number;
}

interface WaitingCall extends Waiter {
  readonly request: AdmissionRequest;
  readonly askedAt: number;
  readonly resolve: (admission: Admission) => void;
  readonly reject: (reason: unknown) => void;
  /** Ends the timer and the listening; set as soon as they exist. */
  disarm: () => void;
}

const NO_RATES: readonly RateLimitState[] = [];
/** The answer to a request without rules. Shared: it holds nothing. */
const FREE: Promise<Admission> = Promise.resolve({
  granted: true,
  rates: NO_RATES,
  waitedMs: 0,
  release: () => undefined,
});

/**
 * A request that waits is queued at all of its leases and tried whenever one of them gets a slot; it takes all
 * of them or none, so nobody holds one slot while waiting for another. Whoever can be served is served, also
 * before an older request that still lacks another slot. Rates and budgets are looked at on arrival and again when
 * the slots are free: one that was used up meanwhile refuses the call then, and the slots go to the next.
 */
export class MemoryAdmissionControl implements AdmissionControl {
  readonly #clock: Clock;
  readonly #spending: Spending;
  readonly #slots = new LeaseSlots<WaitingCall>();
  /** Calls that hold or wait: asking again with the same id is answered with the same admission. */
  readonly #calls = new PassingMap<string, Promise<Admission>>();
  readonly #waiting = new Set<WaitingCall>();
  #closed = false;

  constructor(clock: Clock, { maxRateKeys = 1_000_000 }: MemoryAdmissionOptions = {}) {
    this.#clock = clock;
    this.#spending = new Spending(maxRateKeys);
  }

  admit(request: AdmissionRequest, signal: AbortSignal): Promise<Admission> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (this.#closed) return Promise.reject(closing());
    const { rates, leases, budgets = NO_BUDGETS } = request;
    if (rates.length + leases.length + budgets.length === 0) return FREE;
    const known = this.#calls.get(request.callId);
    if (known !== undefined) return known;
    const twice = firstRepeated(rates) ?? firstRepeated(leases) ?? firstRepeated(budgets);
    if (twice !== undefined)
      return Promise.reject(new Error(`a request may name the key "${twice}" only once`));
    return this.#decide(request, signal);
  }

  /** Whoever waits is rejected with UNAVAILABLE; what was granted can still be released. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const call of this.#waiting) {
      this.#leave(call, false);
      call.reject(closing());
    }
  }

  /** Takes slots that were granted elsewhere, whatever the limit says; the returned function gives them back, once. */
  occupy(leases: readonly LeaseRule[]): () => void {
    const since = this.#clock.now();
    let held = true;
    this.#slots.take(leases);
    return () => {
      if (held) this.#giveBack(leases, since);
      held = false;
    };
  }

  /** Counts a call under its rates and budgets that was let in elsewhere, and what it took there. */
  charge(rates: readonly RateRule[], budgets: readonly BudgetRule[], taken: readonly number[]): void {
    this.#spending.charge(rates, budgets, taken, this.#clock.now());
  }

  async spent(keys: readonly string[]): Promise<readonly number[]> {
    return this.#spending.used(keys, this.#clock.now());
  }

  /** What is kept in memory, in entries: nothing stays of calls that have ended and limits that are idle. */
  get entries(): { readonly rateKeys: number; readonly leaseKeys: number; readonly calls: number } {
    return { rateKeys: this.#spending.rateKeys, leaseKeys: this.#slots.size, calls: this.#calls.size };
  }

  #decide(request: AdmissionRequest, signal: AbortSignal): Promise<Admission> {
    const { callId, rates, leases } = request;
    const now = this.#clock.now();
    for (const lease of leases) if (this.#slots.restate(lease)) this.#serve(lease.key);
    const refused = this.#spending.refusal(request, now);
    if (refused !== undefined) return Promise.resolve(refused);
    if (this.#slots.firstFull(leases) === undefined) {
      const granted = Promise.resolve(this.#grant(request, now, now));
      this.#calls.set(callId, granted);
      return granted;
    }
    const full = leases.filter((lease) => this.#slots.isFull(lease));
    const crowded = full.find(
      (lease) => lease.maxWaitMs <= 0 || this.#slots.queueLength(lease) >= lease.maxQueue,
    );
    if (crowded !== undefined) return Promise.resolve(this.#refusedByLease(crowded, rates, now));
    const waiting = this.#wait(request, signal, full, now);
    this.#calls.set(callId, waiting);
    return waiting;
  }

  #grant(request: AdmissionRequest, askedAt: number, now: number): Admission {
    const { rates, leases } = request;
    const { shadowRefusals, taken } = this.#spending.spend(request, now);
    this.#slots.take(leases);
    let held = true;
    return {
      granted: true,
      rates: rates.length === 0 ? NO_RATES : this.#spending.states(rates, now),
      waitedMs: Math.max(0, now - askedAt),
      ...(shadowRefusals.length > 0 && { shadowRefusals }),
      ...(taken !== undefined && { taken }),
      release: (used = taken) => {
        if (held) this.#release(request, now, taken, used);
        held = false;
      },
    };
  }

  #release(
    { callId, leases, budgets = NO_BUDGETS }: AdmissionRequest,
    since: number,
    taken: readonly number[] = [],
    used: readonly number[] = [],
  ): void {
    this.#calls.delete(callId);
    this.#spending.giveBack(budgets, taken, used);
    if (leases.length > 0) this.#giveBack(leases, since);
  }

  #giveBack(leases: readonly LeaseRule[], since: number): void {
    this.#slots.giveBack(leases, Math.max(0, this.#clock.now() - since));
    for (const lease of leases) this.#serve(lease.key);
  }

  #wait(
    request: AdmissionRequest,
    signal: AbortSignal,
    full: readonly LeaseRule[],
    askedAt: number,
  ): Promise<Admission> {
    return new Promise((resolve, reject) => {
      const { fairnessKey, leases } = request;
      const call: WaitingCall = {
        request,
        fairnessKey,
        leases,
        askedAt,
        resolve,
        reject,
        disarm: () => undefined,
      };
      const onAbort = () => {
        this.#leave(call, false);
        reject(signal.reason as Error);
      };
      const shortest = full.reduce((least, lease) => (lease.maxWaitMs < least.maxWaitMs ? lease : least));
      const stopTimer = this.#clock.after(shortest.maxWaitMs, () => this.#giveUp(call, shortest));
      signal.addEventListener('abort', onAbort, { once: true });
      call.disarm = () => {
        stopTimer();
        signal.removeEventListener('abort', onAbort);
      };
      this.#waiting.add(call);
      this.#slots.wait(call);
    });
  }

  /** Hands free slots of a lease to those who wait for it, in turn. */
  #serve(key: string): void {
    for (let call = this.#slots.nextFor(key); call !== undefined; call = this.#slots.nextFor(key)) {
      const { request, askedAt } = call;
      const now = this.#clock.now();
      const refused = this.#spending.refusal(request, now);
      call.resolve(refused ?? this.#grant(request, askedAt, now));
      this.#leave(call, refused === undefined);
    }
  }

  #giveUp(call: WaitingCall, lease: LeaseRule): void {
    this.#leave(call, false);
    call.resolve(this.#refusedByLease(lease, call.request.rates, this.#clock.now()));
  }

  #leave(call: WaitingCall, granted: boolean): void {
    call.disarm();
    this.#waiting.delete(call);
    this.#slots.stopWaiting(call, granted);
    if (!granted) this.#calls.delete(call.request.callId);
  }

  #refusedByLease(rule: LeaseRule, rates: readonly RateRule[], now: number): Admission {
    const retryAfterMs = this.#slots.retryAfterMs(rule);
    return {
      granted: false,
      refusedBy: 'concurrency',
      rule: rule.key,
      retryAfterMs,
      rates: this.#spending.states(rates, now),
    };
  }
}

export function closing(): ToolFailure {
  return toolFailure('DRAINING', 'The gateway is shutting down.');
}

/** A key named twice would be counted against itself: a mistake of whoever made the request. */
export function firstRepeated(rules: readonly { readonly key: string }[]): string | undefined {
  if (rules.length < 2) return undefined;
  return rules.find((rule, index) => rules.findIndex(({ key }) => key === rule.key) < index)?.key;
}
