// SessionSteps: what a session has done so far, as far as rules about the order of its calls ask for it. Failure policy: deny.

export interface SessionSteps {
  /**
   * Remembers that the session took these steps at `at` (epoch milliseconds), for a day after its last one. Rejects where that
   * cannot be kept: nothing is forgotten to make room.
   */
  mark(session: string, steps: readonly string[], at: number): Promise<void>;
  /** When the session last took each of these, where it did. May reject. */
  taken(session: string, steps: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

export const STEPS_KEPT_MS = 86_400_000;
