// What the machine was short of when a back end was tried: that says nothing about the back end, and may be over soon.
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { SAYS_DISK_FULL } from '../../lib/files/disk-full.ts';

/** Its trial run was ended before it said anything. */
export class TrialCutShort extends Error {}

/** From Node, and in the words of the programs that set up the walls. */
const SHORTAGES: readonly (readonly [RegExp, string])[] = [
  [SAYS_DISK_FULL, 'the disk is full'],
  [/^(?:EROFS|EIO)$/, 'the disk takes nothing'],
  [/^ENOMEM$|Cannot allocate memory/, 'this machine is short of memory'],
  [/^EAGAIN$|Resource temporarily unavailable/, 'the limit of processes is reached'],
  [
    /^(?:EMFILE|ENFILE)$|Too many open files/,
    'the limit of open files is too low, or reached (ulimit -n, LimitNOFILE)',
  ],
];

/** `error` is what a trial failed with, or the ToolFailure around it. */
export function shortageIn(error: unknown): string | undefined {
  const cause = causeOf(error);
  if (cause instanceof TrialCutShort) return 'the trial took too long';
  if (!(cause instanceof Error)) return undefined;
  const said = 'code' in cause ? String(cause.code) : cause.message;
  return SHORTAGES.find(([pattern]) => pattern.test(said))?.[1];
}

export function causeOf(error: unknown): unknown {
  return error instanceof ToolFailure && error.cause instanceof Error ? error.cause : error;
}
