// ValidationCache: what was found good before, so that a reload checks only what changed.
import type { Connection } from '../../contract/plugin.ts';
import type { CheckedTool } from '../spec-rules.ts';

export interface CachedTool {
  readonly checked: CheckedTool;
  /** What agents call: the tool, or each of its actions. */
  readonly functionNames: readonly string[];
}

export interface ValidatedSet {
  /** By content hash of the declaration; the same text in another folder is another tool. */
  readonly tools: Map<string, CachedTool>;
  readonly byName: Map<string, CachedTool>;
  /** By name and content hash. */
  readonly connections: Map<string, Connection>;
}

/** Belongs to one set of rules. Holds the last set that was good as a whole, and what was good of a later one. */
export interface ValidationCache {
  good: ValidatedSet;
  attempt: ValidatedSet;
}

export function newValidationCache(): ValidationCache {
  return { good: emptySet(), attempt: emptySet() };
}

export function emptySet(): ValidatedSet {
  return { tools: new Map(), byName: new Map(), connections: new Map() };
}
