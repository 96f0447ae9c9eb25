// CallRules: what gateway.yaml says of modes and budgets, as those read it who keep calls to it.
import type { InteractionMode, RiskLevel } from '../tool/tool-spec.ts';

/** What a mode allows and bounds. What is left out allows everything, and bounds nothing. */
export interface ModeRule {
  readonly mode: InteractionMode;
  /** Globs over the names of functions, or of their tools. */
  readonly tools?: readonly string[];
  readonly exceptTools?: readonly string[];
  readonly maxRisk?: RiskLevel;
  readonly callsPerTurn?: number;
  readonly retrievalsPerTurn?: number;
  /** What takes longer is told of; of retrievals the smaller of both counts. */
  readonly softMs?: number;
  readonly retrievalSoftMs?: number;
  /** What takes longer is ended. */
  readonly hardMs?: number;
  /** The time of all calls of a turn together. Only beside hardMs. */
  readonly turnMs?: number;
}

export interface SpendLimits {
  readonly calls?: number;
  /** In millionths of the operator's unit: whole numbers do not drift. */
  readonly cost?: number;
}

export interface BudgetRules {
  /** For its life. */
  readonly session: SpendLimits;
  /** These for each day. */
  readonly user: SpendLimits;
  readonly agent: SpendLimits;
  readonly tenant: SpendLimits;
  readonly timeZone: string;
  /** Of tools that do no harm; the others are refused while nobody can count. */
  readonly onStoreFailure: 'local' | 'closed';
}

export interface CallRules {
  /** Empty: no mode bounds anything. */
  readonly modes: ReadonlyMap<InteractionMode, ModeRule>;
  /** Undefined: nothing is counted beside what the modes count. */
  readonly budgets?: BudgetRules;
  /** How many of what is counted may be new in an hour, for each tenant. */
  readonly newBudgetsPerHour?: number;
}

/** So many of them are one unit of the operator. */
export const MILLIONTHS = 1_000_000;
