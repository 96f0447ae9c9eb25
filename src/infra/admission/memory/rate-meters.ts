// RateMeters: GCRA, one meter per key, in whole numbers: no drift, and no edge that rounding could move.
import type { RateRule } from '../../../ports/admission-control.ts';
import type { RateLimitState } from '../../../contract/call/tool-response.ts';

/**
 * How much of its limit a key has used. One call adds `periodMs` units, each millisecond takes `rate` of them
 * away, and `burst` calls' worth is the ceiling: the theoretical arrival time of GCRA, times the rate.
 */
interface Meter {
  units: number;
  /** When `units` was true. */
  at: number;
  rate: number;
  periodMs: number;
}

/** What a refused call is told when there is no capacity for its key's meter: soon others will have gone idle. */
const NO_ROOM_RETRY_MS = 1000;
const NONE: readonly string[] = [];

export class RateMeters {
  /** Least recently looked after first; see #tidy. */
  readonly #meters = new Map<string, Meter>();
  readonly #maxKeys: number;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#meters.size;
  }

  /** The first rule that has no call left now, shadow rules aside. Spends nothing. */
  refusing(rules: readonly RateRule[], now: number): RateRule | undefined {
    for (const rule of rules) if (rule.shadow !== true && this.#isUsedUp(rule, now)) return rule;
    return undefined;
  }

  /**
   * Counts one call under every rule. Only after `refusing` found none, at the same `now`. Returns the names of
   * the shadow rules that would have refused it: these do not count it.
   */
  spend(rules: readonly RateRule[], now: number): readonly string[] {
    let over: string[] | undefined;
    for (const rule of rules) {
      if (rule.shadow === true && this.#isUsedUp(rule, now)) {
        (over ??= []).push(rule.name);
        continue;
      }
      const meter = this.#meters.get(rule.key);
      if (meter === undefined) {
        this.#tidy(now);
        const { rate, periodMs } = rule;
        this.#meters.set(rule.key, { units: periodMs, at: now, rate, periodMs });
      } else {
        meter.units = settle(meter, rule, now) + rule.periodMs;
      }
    }
    return over ?? NONE;
  }

  /** Counts one call that was let in elsewhere: no rule refuses it, and none is used up by more than all there is. */
  charge(rules: readonly RateRule[], now: number): void {
    for (const rule of rules) {
      const { key, rate, periodMs, burst } = rule;
      const meter = this.#meters.get(key);
      if (meter !== undefined) meter.units = Math.min(settle(meter, rule, now) + periodMs, periodMs * burst);
      else if (this.#hasCapacity(now)) this.#meters.set(key, { units: periodMs, at: now, rate, periodMs });
    }
  }

  /** When the rule has a call left again, if nobody else takes it; at least 1. */
  retryAfterMs(rule: RateRule, now: number): number {
    const meter = this.#meters.get(rule.key);
    if (meter === undefined) return NO_ROOM_RETRY_MS;
    const excess = settle(meter, rule, now) + rule.periodMs - rule.periodMs * rule.burst;
    return Math.max(1, Math.ceil(excess / rule.rate));
  }

  states(rules: readonly RateRule[], now: number): RateLimitState[] {
    return rules.map((rule) => this.#stateOf(rule, now));
  }

  #isUsedUp(rule: RateRule, now: number): boolean {
    const meter = this.#meters.get(rule.key);
    if (meter === undefined) return rule.burst < 1 || !this.#hasCapacity(now);
    return settle(meter, rule, now) + rule.periodMs > rule.periodMs * rule.burst;
  }

  #stateOf(rule: RateRule, now: number): RateLimitState {
    const { name, burst, rate, periodMs } = rule;
    const meter = this.#meters.get(rule.key);
    const units = meter === undefined ? 0 : settle(meter, rule, now);
    return {
      name,
      limit: burst,
      remaining: Math.max(0, Math.floor((periodMs * burst - units) / periodMs)),
      resetMs: Math.ceil(units / rate),
      periodMs,
    };
  }

  /** With every meter in use a new key is refused: forgetting one of them would lift somebody's limit. */
  #hasCapacity(now: number): boolean {
    if (this.#meters.size >= this.#maxKeys) this.#tidy(now);
    return this.#meters.size < this.#maxKeys;
  }

  /** Looks after two meters for each that is made, so that idle ones are gone before they can pile up. */
  #tidy(now: number): void {
    let visits = Math.min(2, this.#meters.size);
    for (const [key, meter] of this.#meters) {
      if (visits === 0) return;
      visits -= 1;
      this.#meters.delete(key);
      if (meter.units > (now - meter.at) * meter.rate) this.#meters.set(key, meter);
    }
  }
}

/** Brings a meter to `now` and to the rule as it reads today; a clock set back costs nobody anything. */
function settle(meter: Meter, rule: RateRule, now: number): number {
  if (now > meter.at) meter.units = Math.max(0, meter.units - (now - meter.at) * meter.rate);
  meter.at = now;
  if (meter.rate !== rule.rate || meter.periodMs !== rule.periodMs) {
    meter.units = Math.ceil((meter.units / meter.periodMs) * rule.periodMs);
    meter.rate = rule.rate;
    meter.periodMs = rule.periodMs;
  }
  return meter.units;
}
