// Work that is done again and again for as long as the process runs. A round begins a while after the last one has ended.
import type { Timers } from './timers.ts';

export interface Period {
  readonly ms: number;
  /** The share by which a pause is longer or shorter, at random: replicas that start together do not come together. */
  readonly jitter?: number;
  readonly random?: () => number;
}

/** A round may say how long the pause after it is, in milliseconds; jitter applies to that as well. */
export type Round = () => Promise<number | void> | number | void;

export interface Repeated {
  /** Begins no more rounds; resolves when the one under way has ended. */
  stop(): Promise<void>;
}

/** The first round comes after a pause, too. A round that throws is told to `failed`, and the next one comes. */
export function every(
  clock: Timers,
  { ms, jitter = 0, random = Math.random }: Period,
  round: Round,
  failed: (error: unknown) => void,
): Repeated {
  let stopped = false;
  let cancel: () => void = () => undefined;
  let running: Promise<void> = Promise.resolve();
  const run = async (): Promise<void> => {
    let pauseMs: number | void = undefined;
    try {
      pauseMs = await round();
    } catch (error) {
      failed(error);
    }
    again(pauseMs ?? ms);
  };
  const again = (pauseMs: number): void => {
    if (stopped) return;
    cancel = clock.after(pauseMs * (1 + jitter * (2 * random() - 1)), () => {
      running = run();
    });
  };
  again(ms);
  return {
    async stop() {
      stopped = true;
      cancel();
      await running;
    },
  };
}
