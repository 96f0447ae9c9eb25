// Upstreams: the circuit breaker and the retry budgets of everything that tools call, by the name the executors give it.
import type { CircuitControl, CircuitState, CircuitStatus } from '../../ports/circuit-control.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { RetryBudget } from './retry-budget.ts';
import { CALLS_SERIES } from '../../ports/telemetry/series/calls.ts';

export interface UpstreamDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Beyond it, circuits that are closed are forgotten, the oldest first; their tools keep them, unlisted. */
export const MAX_UPSTREAMS = 1_000;
/** Upstreams that have a series of their own; of later ones, logs and REST tell. */
export const MAX_SERIES = 500;

const GAUGE_VALUES: { readonly [state in CircuitState]: number } = {
  closed: 0,
  half_open: 1,
  open: 2,
  isolated: 2,
};

export class Upstreams implements CircuitControl {
  readonly #deps: UpstreamDeps;
  readonly #gauge: Labelled<Gauge>;
  readonly #series = new Set<string>();
  readonly #circuits = new Map<string, CircuitBreaker>();
  readonly #budgets = new Map<string, RetryBudget>();

  constructor(deps: UpstreamDeps) {
    this.#deps = deps;
    this.#gauge = deps.metrics.gauge(CALLS_SERIES.ute_circuit_state);
  }

  /** The one breaker of this upstream, for every tool that calls it. */
  circuitOf(upstream: string): CircuitBreaker {
    let circuit = this.#circuits.get(upstream);
    if (circuit === undefined) {
      circuit = this.#newCircuit(upstream);
      this.#forgetOne();
      this.#circuits.set(upstream, circuit);
    }
    return circuit;
  }

  /** One upstream's trouble takes no retries from another; tools without an upstream share their type's budget. */
  budgetOf(toolType: string, upstream = ''): RetryBudget {
    const key = `${toolType} ${upstream}`;
    let budget = this.#budgets.get(key);
    if (budget === undefined) {
      budget = new RetryBudget();
      const [oldest] = this.#budgets.keys();
      if (this.#budgets.size >= MAX_UPSTREAMS && oldest !== undefined) this.#budgets.delete(oldest);
      this.#budgets.set(key, budget);
    }
    return budget;
  }

  list(): readonly CircuitStatus[] {
    return [...this.#circuits]
      .map(([upstream, circuit]) => ({ upstream, ...circuit.status() }))
      .sort((a, b) => (a.upstream < b.upstream ? -1 : 1));
  }

  isolate(upstream: string, by: string): CircuitStatus | undefined {
    return this.#byHand(upstream, 'isolate', by);
  }

  reset(upstream: string, by: string): CircuitStatus | undefined {
    return this.#byHand(upstream, 'reset', by);
  }

  #byHand(upstream: string, action: 'isolate' | 'reset', by: string): CircuitStatus | undefined {
    const circuit = this.#circuits.get(upstream);
    if (circuit === undefined) return undefined;
    this.#deps.log.warn({ upstream, action, by }, 'an operator opened or closed a circuit breaker');
    circuit[action]();
    return { upstream, ...circuit.status() };
  }

  #newCircuit(upstream: string): CircuitBreaker {
    const { clock, random, log } = this.#deps;
    const gauge = this.#seriesOf(upstream);
    gauge?.set(GAUGE_VALUES.closed);
    return new CircuitBreaker({
      clock,
      random,
      onChange: (from, to, openForMs) => {
        gauge?.set(GAUGE_VALUES[to]);
        const fields = { upstream, from, to, ...(to === 'open' && { openForMs }) };
        if (to === 'open' || to === 'isolated')
          log.warn(fields, 'circuit opened: calls to this upstream are refused until a probe succeeds');
        else
          log.info(
            fields,
            to === 'closed' ? 'circuit closed' : 'circuit half-open: a few calls probe the upstream',
          );
      },
    });
  }

  #seriesOf(upstream: string): Gauge | undefined {
    if (this.#series.size >= MAX_SERIES && !this.#series.has(upstream)) return undefined;
    this.#series.add(upstream);
    return this.#gauge.with(upstream);
  }

  #forgetOne(): void {
    if (this.#circuits.size < MAX_UPSTREAMS) return;
    const idle = [...this.#circuits].find(([, { state }]) => state === 'closed');
    const oldest = idle?.[0] ?? this.#circuits.keys().next().value;
    if (oldest !== undefined) this.#circuits.delete(oldest);
  }
}
