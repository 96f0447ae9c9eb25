// GrantedCalls: what a call that was let in holds on to, and how the store learns, off its path, that it has ended.
import type { RateLimitState } from '../../../contract/call/tool-response.ts';
import type { Admission, AdmissionRequest, DegradedLimit } from '../../../ports/admission-control.ts';
import type { Clock } from '../../../ports/clock.ts';
import { NO_BUDGETS, unusedOf } from '../memory/budget-meters.ts';
import type { AdmissionStore } from './admission-store.ts';
import type { LeaseKeeper, LiveCall } from './lease-keeper.ts';
import type { LocalShare } from './local-share.ts';
import type { SharedAdmission } from './shared-admission.ts';
import type { StoreHealth } from '../../redis/store-health.ts';

export interface Grant {
  readonly rates: readonly RateLimitState[];
  readonly shadowRefusals?: readonly string[];
  readonly fencingToken?: string;
  readonly degraded?: readonly DegradedLimit[];
  /** Of each budget. */
  readonly taken?: readonly number[];
  /** The store knows the leases, and has counted the budgets. */
  readonly known: boolean;
  /** It may know them all the same. */
  readonly suspected: boolean;
}

export interface GrantsDeps {
  readonly store: Pick<AdmissionStore, 'giveBack'>;
  readonly keeper: LeaseKeeper;
  readonly health: StoreHealth;
  readonly clock: Clock;
  readonly shared: SharedAdmission;
  readonly local: LocalShare;
  ended(callId: string): void;
}

export class GrantedCalls {
  readonly #deps: GrantsDeps;
  /** Slots given back since the store was told last, by key. */
  #freed = new Map<string, number>();
  /** Taken of budgets and not used, since the store was told last, by key. */
  #unused = new Map<string, number>();
  #sending: NodeJS.Immediate | undefined;
  #stopped = false;

  constructor(deps: GrantsDeps) {
    this.#deps = deps;
  }

  add(request: AdmissionRequest, askedAt: number, grant: Grant): Admission {
    const { shadowRefusals = [], fencingToken, degraded, known, suspected, rates, taken } = grant;
    const { keeper, shared, clock } = this.#deps;
    const since = clock.now();
    const live = request.leases.length > 0 ? keeper.hold(request, known, suspected) : undefined;
    shared.take(request.leases);
    let held = true;
    return {
      granted: true,
      rates,
      waitedMs: Math.max(0, since - askedAt),
      ...(shadowRefusals.length > 0 && { shadowRefusals }),
      ...(degraded !== undefined && { degraded }),
      ...(fencingToken !== undefined && { fencingToken }),
      ...(live !== undefined && { whenLost: (listener: () => void) => keeper.whenLost(live, listener) }),
      ...(taken !== undefined && { taken }),
      release: (used = taken) => {
        if (held) {
          if (known && used !== taken) this.#takeNote(request, taken, used);
          this.#release(request, since, live, used);
        }
        held = false;
      },
    };
  }

  /** Once per turn of the event loop. Who waits here asks right behind it, on the same connection. */
  sendSoon(): void {
    if (!this.#stopped) this.#sending ??= setImmediate(() => this.#send());
  }

  /** A slot that was given back in this turn is free for who asks in this turn. */
  sendBefore({ leases }: AdmissionRequest): void {
    if (this.#freed.size > 0 && leases.some(({ key }) => this.#freed.has(key))) this.#send();
  }

  stop(): void {
    this.#stopped = true;
    clearImmediate(this.#sending);
  }

  #takeNote(
    { budgets = NO_BUDGETS }: AdmissionRequest,
    taken: readonly number[] = [],
    used: readonly number[] = [],
  ): void {
    for (const [key, amount] of unusedOf(budgets, taken, used))
      this.#unused.set(key, (this.#unused.get(key) ?? 0) + amount);
    if (this.#unused.size > 0) this.sendSoon();
  }

  #release(
    { callId, leases }: AdmissionRequest,
    since: number,
    live: LiveCall | undefined,
    used: readonly number[] | undefined,
  ): void {
    const { keeper, shared, local, clock } = this.#deps;
    this.#deps.ended(callId);
    shared.giveBack(leases, Math.max(0, clock.now() - since));
    local.release(callId, used);
    for (const { key } of leases) this.#freed.set(key, (this.#freed.get(key) ?? 0) + 1);
    if (live !== undefined) keeper.letGo(live);
  }

  #send(): void {
    const { keeper, health, shared } = this.#deps;
    clearImmediate(this.#sending);
    this.#sending = undefined;
    const [freed, unused] = [this.#freed, this.#unused];
    this.#freed = new Map();
    this.#unused = new Map();
    if (!health.isUp) return;
    // Once: what is lost on the way stays counted.
    if (unused.size > 0) this.#deps.store.giveBack(unused).catch((error: unknown) => health.failed(error));
    keeper.sendReleases().catch((error: unknown) => health.failed(error));
    for (const [key, slots] of freed) shared.wake(key, slots);
  }
}
