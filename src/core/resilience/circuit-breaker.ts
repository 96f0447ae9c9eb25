// CircuitBreaker: stops calling an upstream that keeps failing, and finds out with a few calls when it is back.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { CircuitState, CircuitStatus } from '../../ports/circuit-control.ts';
import type { Clock } from '../../ports/clock.ts';
import { OutcomeWindow } from './outcome-window.ts';

/** What one attempt says about the upstream; `unknown`: nothing, it may not even have been reached. */
export type Outcome = 'answered' | 'failed' | 'unknown';

/** Instead of a pass: the upstream is not to be called now. */
export const REFUSED = 0;

export const FAILURES_IN_A_ROW = 5;
export const WINDOW_MS = 30_000;
export const WINDOW_MIN_CALLS = 20;
const WINDOW_FAILURE_RATIO = 0.5;
export const FIRST_OPEN_MS = 5_000;
export const LONGEST_OPEN_MS = 60_000;
/** Part of the open time that is left to chance, so that replicas do not come back together. */
const JITTER = 0.2;
/** Calls that must succeed in a row before the upstream counts as back. The first of them goes alone. */
export const PROBES = 3;
/** A probe that takes longer does not keep the next one waiting. */
export const PROBE_PATIENCE_MS = 10_000;
const BUSY_RETRY_MS = 1_000;

export interface CircuitDeps {
  readonly clock: Clock;
  readonly random: () => number;
  /** Called on every change of state, with the new one in force. */
  readonly onChange: (from: CircuitState, to: CircuitState, openForMs: number) => void;
}

/** Owns no timer: an open circuit becomes half-open with the first call that comes after its time. */
export class CircuitBreaker {
  readonly #deps: CircuitDeps;
  readonly #window = new OutcomeWindow(WINDOW_MS);
  #state: CircuitState = 'closed';
  /** Changes with the state: the outcome of a call that began in another state is not counted. */
  #epoch = 1;
  #failuresInARow = 0;
  /** Openings since it was last closed. */
  #openings = 0;
  #openedAt = 0;
  #openForMs = 0;
  #probing = 0;
  #probesPassed = 0;
  #lastProbeAt = 0;

  constructor(deps: CircuitDeps) {
    this.#deps = deps;
  }

  /** A pass to be given back by `settle`, or REFUSED. On every call's path: closed costs one comparison. */
  enter(): number {
    return this.#state === 'closed' ? this.#epoch : this.#enterUnlessOpen();
  }

  /** Exactly once per pass. */
  settle(pass: number, outcome: Outcome): void {
    if (pass !== this.#epoch) return;
    if (this.#state === 'half_open') this.#settleProbe(outcome);
    else if (outcome !== 'unknown') this.#count(outcome === 'failed');
  }

  refusal(): ToolFailure {
    return toolFailure('CIRCUIT_OPEN', 'What this tool calls keeps failing and is left alone for a while.', {
      retryAfterMs: this.#retryAfterMs(),
      partialSideEffects: false,
    });
  }

  /** Refuses every call until `reset`, whatever the upstream does. */
  isolate(): void {
    if (this.#state !== 'isolated') this.#become('isolated');
  }

  /** Closes it, and forgets what was counted. */
  reset(): void {
    this.#close();
  }

  get state(): CircuitState {
    return this.#state;
  }

  status(): Omit<CircuitStatus, 'upstream'> {
    const { calls, failures } = this.#window.totals(this.#deps.clock.now());
    return {
      state: this.#state,
      retryAfterMs: this.#state === 'closed' ? 0 : this.#retryAfterMs(),
      calls,
      failures,
      failuresInARow: this.#failuresInARow,
    };
  }

  #enterUnlessOpen(): number {
    if (this.#state === 'isolated') return REFUSED;
    const now = this.#deps.clock.now();
    if (this.#state === 'open') {
      if (this.#openLeftMs(now) > 0) return REFUSED;
      this.#probing = 0;
      this.#probesPassed = 0;
      this.#become('half_open');
    }
    const sinceLast = now - this.#lastProbeAt;
    const atOnce = this.#probesPassed === 0 ? 1 : PROBES - this.#probesPassed;
    if (this.#probing >= atOnce && sinceLast >= 0 && sinceLast < PROBE_PATIENCE_MS) return REFUSED;
    this.#probing += 1;
    this.#lastProbeAt = now;
    return this.#epoch;
  }

  #settleProbe(outcome: Outcome): void {
    this.#probing -= 1;
    if (outcome === 'failed') return this.#open();
    if (outcome === 'answered') this.#probesPassed += 1;
    if (this.#probesPassed === PROBES) this.#close();
  }

  #count(failed: boolean): void {
    const now = this.#deps.clock.now();
    this.#window.add(now, failed);
    this.#failuresInARow = failed ? this.#failuresInARow + 1 : 0;
    if (!failed) return;
    const { calls, failures } = this.#window.totals(now);
    const mostly = calls >= WINDOW_MIN_CALLS && failures >= calls * WINDOW_FAILURE_RATIO;
    if (mostly || this.#failuresInARow >= FAILURES_IN_A_ROW) this.#open();
  }

  #open(): void {
    const { clock, random } = this.#deps;
    const fullMs = Math.min(LONGEST_OPEN_MS, FIRST_OPEN_MS * 2 ** this.#openings);
    this.#openings += 1;
    this.#openedAt = clock.now();
    this.#openForMs = Math.round(fullMs * (1 - JITTER * random()));
    this.#become('open');
  }

  #close(): void {
    this.#window.clear();
    this.#failuresInARow = 0;
    this.#openings = 0;
    if (this.#state !== 'closed') this.#become('closed');
  }

  #become(state: CircuitState): void {
    const from = this.#state;
    this.#state = state;
    this.#epoch += 1;
    this.#deps.onChange(from, state, state === 'open' ? this.#openForMs : 0);
  }

  #openLeftMs(now: number): number {
    // A machine's clock that was set back must not keep it open for longer than was meant.
    if (now < this.#openedAt) this.#openedAt = now;
    return this.#openedAt + this.#openForMs - now;
  }

  #retryAfterMs(): number {
    if (this.#state === 'isolated') return LONGEST_OPEN_MS;
    if (this.#state === 'half_open') return BUSY_RETRY_MS;
    return Math.max(0, this.#openLeftMs(this.#deps.clock.now()));
  }
}
