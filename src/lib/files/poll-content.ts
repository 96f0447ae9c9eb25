// Looks again and again whether what was loaded is still what is there. Content is the judge, not times.
import { pause } from '../timers/pause.ts';
import type { Timers } from '../timers/timers.ts';

/** Fingerprint of a source that is away: its going is told of like a change, and so is its return. */
export const AWAY = 'away';

export interface PolledContent {
  readonly everyMs: number;
  readonly clock: Timers;
  /** Fingerprint of what was loaded last. */
  loaded(): string;
  /** Fingerprint of what is there now. */
  current(signal: AbortSignal): Promise<string>;
  failed(error: unknown): void;
}

/** Settles when the signal aborts. Calls `changed` once per state that was not loaded. */
export async function pollContent(
  content: PolledContent,
  changed: () => void,
  signal: AbortSignal,
): Promise<void> {
  let announced: string | undefined;
  while (!signal.aborted) {
    await pause(content.clock, content.everyMs, signal);
    if (signal.aborted) return;
    try {
      const current = await content.current(signal);
      if (current === content.loaded()) announced = undefined;
      else if (current !== announced && !signal.aborted) {
        announced = current;
        changed();
      }
    } catch (error) {
      if (!signal.aborted) content.failed(error);
    }
  }
}
