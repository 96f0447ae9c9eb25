// What a large JSON text may hold, and why one is refused.

/** What is shorter is parsed in one go: that takes a few milliseconds at most. */
export const LARGE_JSON_BYTES = 64 * 1024;

export interface LargeJsonLimits {
  readonly depth: number;
  /** Containers and what they hold: they take memory, and time to collect. */
  readonly values: number;
  /** In one object: beyond, adding one more, or listing them all, takes too long at a time. */
  readonly names: number;
  /**
   * What becomes of a number that no double holds: the text it was written as, a refusal, or the nearest double.
   * A function says of each that may be one, as it is written, whether it is refused.
   */
  readonly numbers: 'text' | 'refuse' | 'round' | ((written: string) => boolean);
}

/** `TOO_LONG`: a name, a number or a run of blanks that would have to be read in one go. */
export type LargeJsonFault =
  | 'NOT_JSON'
  | 'TOO_DEEP'
  | 'TOO_LONG'
  | 'TOO_MANY_NAMES'
  | 'TOO_MANY_VALUES'
  | 'UNSAFE_NUMBER';

export class LargeJsonError extends Error {
  readonly reason: LargeJsonFault;
  /** The number that was refused. */
  readonly found: string | undefined;

  constructor(reason: LargeJsonFault, found?: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'LargeJsonError';
    this.reason = reason;
    this.found = found;
  }
}

export function notJson(cause?: unknown): LargeJsonError {
  return new LargeJsonError('NOT_JSON', undefined, cause);
}
