// SessionSteps: what a session has done so far, as far as rules about the order of its calls ask for it. Failure policy: deny.

export interface SteppingSession {
  readonly tenant: string;
  readonly id: string;
}

export interface SessionSteps {
  /**
   * Remembers that the session takes these steps now, for a day after its last one. Rejects where that cannot be kept: nothing is
   * forgotten to make room, and no tenant takes the room of all others.
   */
  mark(session: SteppingSession, steps: readonly string[]): Promise<void>;
  /**
   * How many milliseconds ago the session last took each of these, where it did: measured by whoever keeps them, whatever the
   * date of a machine is set to. May reject.
   */
  taken(session: SteppingSession, steps: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

export const STEPS_KEPT_MS = 86_400_000;
export const NO_ROOM = 'no further session of the tenant can be remembered';
