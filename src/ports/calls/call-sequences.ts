// CallSequences: which tools a tenant's sessions called one after another, with success.
import type { AnalyticsQuery } from './call-analytics.ts';

export type SequencesQuery = Pick<AnalyticsQuery, 'from' | 'to' | 'agentId'>;

export interface CallSequence {
  /** One to five, in the order in which they were called; no tool twice in a row. */
  readonly tools: readonly string[];
  /** In how many sessions. Never of fewer than three: what one person did is told to nobody. */
  readonly sessions: number;
  /** How often. */
  readonly calls: number;
}

export interface CallSequences {
  readonly countedFrom: Date;
  readonly isComplete: boolean;
  /** Those of the most sessions first. */
  readonly sequences: readonly CallSequence[];
}
