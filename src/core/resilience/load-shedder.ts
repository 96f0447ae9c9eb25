// LoadShedder: refuses calls while the gateway has more to do than it can, the least important ones first.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { CallPriority } from '../../contract/tool/tool-spec.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { LoopLag } from '../../ports/telemetry/loop-lag.ts';
import type { Counter, Metrics } from '../../ports/telemetry/metrics.ts';
import { LIMITS_SERIES } from '../../ports/telemetry/series/limits.ts';

export interface ShedLimits {
  readonly maxInflightCalls: number;
  readonly shedAtLagMs: number;
}

export interface ShedDeps {
  readonly lag: LoopLag;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Share of the slots for calls in flight that a priority may fill: the last fifth is kept for what is important. */
const SHARES: { readonly [priority in CallPriority]: number } = { low: 0.6, normal: 0.8, high: 1 };
/** How many times the lag limit a priority bears; calls of high priority are refused for their number alone. */
const BEARABLE_LAG: { readonly [priority in CallPriority]: number } = {
  low: 1,
  normal: 2,
  high: Number.POSITIVE_INFINITY,
};

const RETRY_MS = 1_000;
const LOG_EVERY_MS = 10_000;

interface Level {
  readonly slots: number;
  readonly lagMs: number;
  readonly shed: Counter;
}

export class LoadShedder {
  readonly #deps: ShedDeps;
  readonly #levels: { readonly [priority in CallPriority]: Level };
  #quietUntil = 0;

  constructor(limits: ShedLimits, deps: ShedDeps) {
    this.#deps = deps;
    const shed = deps.metrics.counter(LIMITS_SERIES.ute_shed_calls_total);
    const level = (priority: CallPriority): Level => ({
      slots: Math.max(1, Math.floor(limits.maxInflightCalls * SHARES[priority])),
      lagMs: limits.shedAtLagMs * BEARABLE_LAG[priority],
      shed: shed.with(priority),
    });
    this.#levels = { low: level('low'), normal: level('normal'), high: level('high') };
  }

  /** `inFlight`: calls that run now, this one among them. Throws ToolFailure UNAVAILABLE, reason OVERLOADED. */
  check(inFlight: number, priority: CallPriority = 'normal'): void {
    const { slots, lagMs } = this.#levels[priority];
    if (inFlight <= slots && this.#deps.lag.p99Ms() <= lagMs) return;
    throw this.#refusal(priority, inFlight);
  }

  #refusal(priority: CallPriority, inFlight: number): ToolFailure {
    const { clock, random, lag, log } = this.#deps;
    this.#levels[priority].shed.add();
    const now = clock.now();
    // Every refusal is audited and counted; the log says that it has begun, and that it goes on.
    if (now >= this.#quietUntil || now < this.#quietUntil - LOG_EVERY_MS) {
      this.#quietUntil = now + LOG_EVERY_MS;
      log.warn(
        { priority, inFlight, lagMs: Math.round(lag.p99Ms()) },
        'the gateway is overloaded: calls are refused until it has caught up',
      );
    }
    return toolFailure('OVERLOADED', 'The gateway has too much to do at the moment.', {
      retryAfterMs: Math.round(RETRY_MS * (1 + random())),
    });
  }
}
