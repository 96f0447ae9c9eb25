// Whether an error was given one of the gateway's own reasons. A word that the table of reasons does not hold does not compile.
import type { Reason } from './reasons.ts';

export function isReason(error: { readonly reason: string }, ...reasons: readonly Reason[]): boolean {
  return reasons.some((each) => each === error.reason);
}
