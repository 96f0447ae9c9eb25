// CircuitControl: the operator's side of the circuit breakers: where each stands, and taking one out by hand.

export type CircuitState = 'closed' | 'open' | 'half_open' | 'isolated';

export interface CircuitStatus {
  /** As the executor names it: `http:api.example.com:443`. */
  readonly upstream: string;
  /** `open` with no time left: the next call tries the upstream. `isolated`: by an operator, until reset. */
  readonly state: CircuitState;
  readonly retryAfterMs: number;
  /** Calls that said something about the upstream, of the last 30 seconds, since it was last closed. */
  readonly calls: number;
  readonly failures: number;
  readonly failuresInARow: number;
}

/** Of this process alone: every replica judges by what it sees itself. */
export interface CircuitControl {
  /** By name. */
  list(): readonly CircuitStatus[];
  /** Refuses every call until reset. `by` is the credential's id, for the log. Undefined: no tool has such an upstream. */
  isolate(upstream: string, by: string): CircuitStatus | undefined;
  /** Closes it now, and forgets what was counted. */
  reset(upstream: string, by: string): CircuitStatus | undefined;
}
