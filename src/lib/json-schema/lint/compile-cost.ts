// How long a schema takes to be compiled, guessed from its size: that is done at its first value, and cannot be interrupted.
import { countTokens } from './schema-size.ts';
import { patternsOf, patternWeight } from './pattern-weight.ts';

/**
 * Some 20 ms, and as much again where a value does not fit: what says which of all its parts do not is compiled then. Schemas
 * that people write have dozens of parts.
 */
const MOST_PARTS = 400;
/** Some 10 ms, where the classes of the patterns are wide. */
const MOST_WEIGHT = 2_500;

/** True: compiling it would hold the event loop, and with it every other call. */
export function isSlowToCompile(schema: object): boolean {
  if (countTokens(schema, MOST_PARTS) >= MOST_PARTS) return true;
  let weight = 0;
  const waiting: object[] = [schema];
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    for (const pattern of patternsOf(current)) weight += patternWeight(pattern);
    if (weight > MOST_WEIGHT) return true;
    for (const inner of Object.values(current) as unknown[])
      if (typeof inner === 'object' && inner !== null) waiting.push(inner);
  }
  return false;
}
