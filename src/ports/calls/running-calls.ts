// RunningCalls: the calls that are in this process now, as an operator sees them. Their arguments are not shown.

/** `deciding`: who may call, and whether. `waiting`: for capacity under a limit. `running`: the executor was entered. */
export const RUNNING_STATES = ['deciding', 'waiting', 'running'] as const;

export interface RunningCall {
  readonly callId: string;
  /** The name as the caller wrote it. */
  readonly tool: string;
  readonly door: string;
  /** Empty until auth knows it, as the four that follow. */
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly user: string;
  readonly session: string;
  readonly state: (typeof RUNNING_STATES)[number];
  /** Times that the executor was entered. */
  readonly attempts: number;
  /** ISO 8601, UTC: when the call came in. */
  readonly since: string;
  readonly ageMs: number;
  /** Until it is given up. */
  readonly remainingMs: number;
  readonly traceId: string;
}

export interface RunningCalls {
  readonly inFlight: number;
  /** Those that have run longest come first. */
  running(): readonly RunningCall[];
}
