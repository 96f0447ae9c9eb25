// SharedAdmission: admission by the store all replicas share, with a bounded fair queue of this replica's own waiting calls.
import type { RateLimitState } from '../../../contract/call/tool-response.ts';
import type { AdmissionRequest, LeaseRule } from '../../../ports/admission-control.ts';
import type { Clock } from '../../../ports/clock.ts';
import { LeaseSlots } from '../memory/lease-slots.ts';
import type { AdmissionStore } from './admission-store.ts';
import type { AdmitReply } from './admit-reply.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import { StoreAway, type StoreHealth } from '../../redis/store-health.ts';
import { endInTime, type FullDecision, type SharedDecision, type WaitingCall } from './waiting-call.ts';
import { WaitingQueues } from './waiting-queues.ts';

export interface SharedDeps {
  readonly store: AdmissionStore;
  readonly keeper: LeaseKeeper;
  readonly health: StoreHealth;
  readonly clock: Clock;
  readonly random: () => number;
  /** Longest time between two questions of who stands first in a queue. */
  readonly pollMs: number;
}

type Full = AdmitReply & { readonly kind: 'full' };
const NOT_ASKED: Full = { kind: 'full', full: [], firstExpiryMs: Infinity, rates: [] };

/** Only who stands first asks, once per slot that may be free. A call that waits stands in the queues of all its leases. */
export class SharedAdmission {
  readonly #deps: SharedDeps;
  readonly #slots = new LeaseSlots<WaitingCall>();
  readonly #queues: WaitingQueues;
  readonly #waiting = new Set<WaitingCall>();

  constructor(deps: SharedDeps) {
    this.#deps = deps;
    this.#queues = new WaitingQueues({
      ...deps,
      look: (key) => this.wake(key),
      onOpen: (key) => deps.keeper.keepTurn(key),
      onEmpty: (key) => deps.keeper.giveUpTurn(key),
    });
  }

  /** Throws StoreAway; once `signal` aborts, its reason. */
  async admit(request: AdmissionRequest, signal: AbortSignal): Promise<SharedDecision> {
    const { leases } = request;
    signal.throwIfAborted();
    const before = this.#queues.answersBefore(leases);
    if (before !== undefined) return before.then(() => this.admit(request, signal));
    const blocked = leases.filter((rule) => this.#isBlocked(rule));
    if (blocked.length > 0) return this.#enter(request, signal, { ...NOT_ASKED, full: blocked });
    for (const { key } of leases) this.#queues.beginAsking(key);
    try {
      const mayWait = leases.every((rule) => this.#mayQueue(rule));
      const reply = await this.#ask(request, mayWait);
      if (reply.kind !== 'full') return reply;
      signal.throwIfAborted();
      const decided = this.#enter(request, signal, reply);
      for (const { key } of reply.full) this.#askNext(key);
      return decided;
    } finally {
      for (const { key } of leases) this.#queues.endAsking(key);
    }
  }

  take(leases: readonly LeaseRule[]): void {
    this.#slots.take(leases);
  }

  giveBack(leases: readonly LeaseRule[], heldMs: number): void {
    this.#slots.giveBack(leases, heldMs);
  }

  /**
   * Slots of the lease may be free. While somebody of the queue asks, that is kept for later: that one came before, and may be
   * told that all is full although the slot is for it.
   */
  wake(key: string, slots = 1): void {
    if (!this.#queues.has(key)) return;
    this.#queues.poke(key, slots);
    this.#askNext(key);
  }

  /** As many as there may be slots for, in their order; the next only once all of them have their answers. */
  #askNext(key: string): void {
    if (this.#queues.askingAgain(key) > 0) return;
    for (let slots = this.#queues.pokes(key); slots > 0; slots -= 1) {
      if (!this.#queues.has(key) || this.#isShareTakenOf(key)) return;
      const next = this.#slots.find(key, (call) => !call.asking && call.blockedOn === key);
      // Whoever is still on a first question may end up in the queue.
      if (next === undefined) return;
      this.#queues.takePoke(key);
      void this.#askAgain(next, key);
    }
  }

  /** By the store's name of the lease. */
  wakeNamed(name: string): void {
    this.wake(this.#queues.keyOf(name));
  }

  /** Of a store that is away, or of a gateway that closes. */
  sendAway(reason: unknown): void {
    for (const call of this.#waiting) {
      this.#leave(call, false);
      call.fail(reason);
    }
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  #isBlocked(rule: LeaseRule): boolean {
    this.#slots.restate(rule);
    return this.#queues.waiting(rule.key) > 0 || this.#isShareTaken(rule);
  }

  /** While the store is not sure who holds what, this replica keeps to its share, what it holds already included. */
  #isShareTaken({ key, limit }: LeaseRule, itself = 0): boolean {
    const { health } = this.#deps;
    if (!health.inQuarantine) return false;
    return this.#slots.inUse(key) + this.#queues.asking(key) - itself >= health.shareOf(limit);
  }

  #isShareTakenOf(key: string): boolean {
    if (!this.#deps.health.inQuarantine) return false;
    const rule = this.#slots.find(key, () => true)?.leases.find((lease) => lease.key === key);
    return rule !== undefined && this.#isShareTaken(rule);
  }

  #mayQueue(rule: LeaseRule): boolean {
    return rule.maxWaitMs > 0 && this.#slots.queueLength(rule) < rule.maxQueue;
  }

  async #ask(
    request: AdmissionRequest,
    mayWait: boolean,
    own?: WaitingCall,
  ): Promise<Exclude<AdmitReply, { kind: 'other_epoch' }>> {
    const { store, health } = this.#deps;
    const othersWaiting = ({ key }: LeaseRule) => {
      const itself = own?.blockedOn === key && !own.done ? 1 : 0;
      return this.#queues.waiting(key) - itself + (own === undefined ? 0 : this.#queues.keepTurnFor(key));
    };
    try {
      for (;;) {
        const reply = await store.admit({
          request,
          epoch: health.epoch,
          mayWait,
          again: own !== undefined,
          othersWaiting,
        });
        if (reply.kind !== 'other_epoch') return reply;
        await health.rejoin();
        const full = request.leases.filter((rule) => this.#isShareTaken(rule, own === undefined ? 1 : 0));
        if (full.length > 0) return { ...NOT_ASKED, full };
      }
    } catch (error) {
      health.failed(error);
      throw new StoreAway('the store of the limits does not answer', { cause: error });
    }
  }

  /** Into the queue, or refused where that is as long as it may be. */
  #enter(
    request: AdmissionRequest,
    signal: AbortSignal,
    { full, firstExpiryMs, rates }: Full,
  ): Promise<SharedDecision> {
    const crowded = full.find((rule) => !this.#mayQueue(rule));
    if (crowded !== undefined) return Promise.resolve(this.#refusal(crowded, rates));
    return new Promise((settle, fail) => {
      const { fairnessKey, leases } = request;
      const blockedOn = full[0]?.key ?? '';
      const state = { blockedOn, asking: false, done: false, rates, disarm: () => undefined };
      const call: WaitingCall = { request, fairnessKey, leases, settle, fail, ...state };
      endInTime(call, full, signal, this.#deps.clock, {
        aborted: () => {
          this.#leave(call, false);
          fail(signal.reason);
        },
        late: (rule) => {
          this.#leave(call, false);
          settle(this.#refusal(rule, call.rates));
        },
      });
      this.#waiting.add(call);
      this.#slots.wait(call);
      this.#queues.enter(blockedOn);
      this.#queues.lookWithin(blockedOn, firstExpiryMs);
    });
  }

  async #askAgain(call: WaitingCall, key: string): Promise<void> {
    call.asking = true;
    this.#queues.beginAskingAgain(key);
    try {
      const reply = await this.#ask(call.request, true, call);
      call.asking = false;
      this.#queues.endAskingAgain(key);
      if (call.done) this.#unwanted(call, key, reply);
      else if (reply.kind === 'full') this.#stillFull(call, key, reply);
      else {
        this.#leave(call, reply.kind === 'granted');
        call.settle(reply);
        // What is left may be for those who ask already; the last answer of all says what is left for others.
        this.#queues.pokeTo(key, reply.kind === 'granted' ? reply.left : 1);
      }
      this.#askNext(key);
    } catch (error) {
      this.#queues.endAskingAgain(key);
      if (!call.done) this.#leave(call, false);
      call.fail(error);
    }
  }

  /** It has gone meanwhile: what it got, or the hint it followed, is the next one's. */
  #unwanted(call: WaitingCall, key: string, reply: { readonly kind: string }): void {
    if (reply.kind === 'granted') this.#deps.keeper.takeBack(call.request);
    this.#queues.poke(key, 1);
  }

  #stillFull(call: WaitingCall, key: string, { full, firstExpiryMs, rates }: Full): void {
    call.rates = rates;
    const isFull = full.some((rule) => rule.key === key);
    const blockedOn = isFull ? key : (full[0]?.key ?? key);
    if (blockedOn !== key) {
      call.blockedOn = blockedOn;
      this.#queues.enter(blockedOn);
      // The store has ended the turn for this one itself.
      this.#queues.leave(key, true);
      // The slot is free for others in this queue.
      this.#queues.poke(key, 1);
    }
    this.#queues.lookWithin(blockedOn, firstExpiryMs);
  }

  #leave(call: WaitingCall, served: boolean): void {
    call.done = true;
    call.disarm();
    this.#waiting.delete(call);
    this.#slots.stopWaiting(call, served);
    this.#queues.leave(call.blockedOn, served);
  }

  #refusal(rule: LeaseRule, rates: readonly RateLimitState[]): FullDecision {
    return { kind: 'full', rule, retryAfterMs: this.#slots.retryAfterMs(rule), rates };
  }
}
