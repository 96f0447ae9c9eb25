// How large what an expression looks at is, counted no further than a decision may look.
import type { InputSize } from './cost.ts';

/** More is not bound, and not looked at. */
const MOST_VALUES = 10_000;

/** Undefined: too large. */
export function sizeOf(roots: readonly unknown[]): InputSize | undefined {
  let values = 0;
  let characters = 0;
  let largest = 0;
  let longest = 0;
  const waiting: unknown[] = [...roots];
  while (waiting.length > 0) {
    const value = waiting.pop();
    values += 1;
    if (values > MOST_VALUES) return undefined;
    if (typeof value === 'string') {
      characters += value.length;
      longest = Math.max(longest, value.length);
    }
    if (typeof value !== 'object' || value === null) continue;
    const members = Array.isArray(value) ? (value as unknown[]) : Object.values(value);
    if (!Array.isArray(value)) for (const name in value) longest = Math.max(longest, name.length);
    largest = Math.max(largest, members.length);
    if (values + members.length > MOST_VALUES) return undefined;
    for (const member of members) waiting.push(member);
  }
  return { values, characters, largest, longest };
}
