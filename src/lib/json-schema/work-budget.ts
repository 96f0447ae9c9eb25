// The budget of one validation: what its patterns, formats and comparisons may cost, in steps that are counted as they are taken.

/**
 * A step is one character looked at by one state of a pattern, or compared, or measured: some 10 to 20 nanoseconds.
 * What is checked on the event loop may take some 10 ms; in a thread, where nobody waits but the caller, some 0.3 s.
 */
export const HERE = 1 << 19;
export const IN_THREAD = 1 << 24;

/** Thrown instead of an answer: neither true nor false would be safe under `not`. */
export class WorkBudgetError extends Error {}

let left = HERE;

/** To be called before each validation, which is synchronous: one budget at a time is in use. */
export function renewBudget(steps: number): void {
  left = steps;
}

export function spend(steps: number): void {
  left -= steps;
  if (left < 0) throw new WorkBudgetError('checking the value took too many steps');
}
