// Why a plan is not kept or not taken away: nothing was done, and whoever asked may mend it and ask again.
import { toolFailure } from '../../contract/call/failure.ts';
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import type { FailureDetails, ToolFailure } from '../../contract/call/tool-failure.ts';

export interface Violation {
  readonly pointer: string;
  readonly message: string;
}

export function nothingDone(reason: Reason, message: string, more: FailureDetails = {}): ToolFailure {
  return toolFailure(reason, message, { ...more, partialSideEffects: false });
}

export function invalid(violations: readonly Violation[]): ToolFailure {
  const told = violations.slice(0, 20).map(({ pointer, message }) => ({ pointer, message }));
  const sentences = told.map(({ pointer, message }) => `${pointer || 'the plan'} ${message}.`);
  return nothingDone('PLAN_INVALID', sentences.join(' '), { details: { violations: told } });
}
