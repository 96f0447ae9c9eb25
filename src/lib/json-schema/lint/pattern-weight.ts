// What the patterns of a schema cost together: each is made into a program on the event loop, at load and at the first call.
import { LRUCache } from 'lru-cache';
import { compilePattern, MAX_PATTERN_LENGTH } from '../re2-engine.ts';
import type { SchemaNode, SchemaProblem } from './schema-graph.ts';

/** Some ten milliseconds, a hundred where classes are wide. Patterns that people write weigh dozens to some hundreds each. */
const MOST = 25_000;

/** None is made beyond what they may cost. A pattern that is none is told by the rules of its keyword. */
export function patternWeightProblems(nodes: readonly SchemaNode[]): SchemaProblem[] {
  const seen = new Set<string>();
  let weight = 0;
  for (const { schema, path } of nodes)
    for (const pattern of patternsOf(schema)) {
      if (seen.has(pattern) || pattern.length > MAX_PATTERN_LENGTH) continue;
      seen.add(pattern);
      weight += patternWeight(pattern);
      if (weight > MOST) {
        const message =
          'comes after too many large patterns: repeat less in them ({1,1000} is as large as a thousand), or have fewer';
        return [{ path, message }];
      }
    }
  return [];
}

/** Of this sub-schema itself. */
export function patternsOf({
  pattern,
  patternProperties,
}: {
  readonly pattern?: unknown;
  readonly patternProperties?: unknown;
}): readonly string[] {
  const own = typeof pattern === 'string' ? [pattern] : [];
  const isMap = typeof patternProperties === 'object' && patternProperties !== null;
  return isMap ? [...own, ...Object.keys(patternProperties)] : own;
}

/** Asked again when a tool is built, and tools are built anew at each load. */
const known = new LRUCache<string, number>({ max: 4_000 });

/** Of one that is no pattern 0: that is told by the rules of its keyword. */
export function patternWeight(pattern: string): number {
  if (pattern.length > MAX_PATTERN_LENGTH) return 0;
  let weight = known.get(pattern);
  if (weight !== undefined) return weight;
  try {
    ({ weight } = compilePattern(pattern));
  } catch {
    weight = 0;
  }
  known.set(pattern, weight);
  return weight;
}
