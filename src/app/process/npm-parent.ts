// npm runs a program by a shell and passes SIGTERM to that shell alone. Where the shell does not pass it on (dash, the `sh` of
// Debian, does not), it ends, npm after it, and the gateway would serve on: so it takes the shell's end for the signal.
import { every } from '../../lib/timers/every.ts';
import type { Timers } from '../../lib/timers/timers.ts';

const LOOK_EVERY_MS = 250;
/** Whoever starts a program in the background is gone before, or when, that looks: it has no parent to follow then. */
const INIT = 1;

export interface ParentSight {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timers: Timers;
  /** The parent as it is now. */
  readonly parent: () => number;
}

/** By npx, `npm exec` and `npm run`, which name what they run in the environment. Calls `gone` once; nothing where no npm started this. */
export function onNpmGone({ env, timers, parent }: ParentSight, gone: () => void): void {
  const first = parent();
  if (env['npm_lifecycle_event'] === undefined || first === INIT) return;
  const look = () => {
    if (parent() === first) return;
    void looks.stop();
    gone();
  };
  const looks = every(timers, { ms: LOOK_EVERY_MS }, look, () => undefined);
}
