// What a schedule calls, agreed to anew where it changes when that runs: as if it were made now, by its owner.
import type { AdmitRequest } from '../contract/call/admission.ts';
import { admittedCallOf } from '../calls/accepted-request.ts';
import { keptAt } from '../calls/keep-admitted.ts';
import type { Schedule, ScheduledCall, ScheduleTerms } from '../ports/calls/schedule-store.ts';
import type { ToolCaller } from '../ports/tool-caller.ts';
import { scheduledCallOf } from './scheduled-call.ts';
import { shownTerms } from './schedule-terms.ts';

/** The call to be made, as a door reads it, or a step of another. */
export type CallDraft = Omit<AdmitRequest, 'terms'>;

export interface ChangedBy extends Pick<CallDraft, 'credential' | 'door' | 'parent' | 'signal'> {
  readonly confirmationToken?: string;
  readonly idempotencyKey?: string;
}

/** Throws ToolFailure: whatever the call would be refused with now, and CONFIRMATION_REQUIRED. */
export async function agreedAnew(
  caller: Pick<ToolCaller, 'admit'>,
  schedule: Schedule,
  terms: ScheduleTerms,
  { confirmationToken, idempotencyKey, ...by }: ChangedBy,
): Promise<ScheduledCall> {
  const { callbackUrl, request } = schedule.call;
  const { tool, arguments: args, context } = admittedCallOf(schedule.id, request);
  const draft = { ...by, tool, arguments: args, context: { ...context, confirmationToken, idempotencyKey } };
  const shown = shownTerms(terms, callbackUrl);
  let agreed = schedule.call;
  const admission = await caller.admit({ ...draft, isKept: true, terms: { schedule: shown } });
  await keptAt(admission, async (admitted) => {
    agreed = scheduledCallOf(admitted, callbackUrl);
    return schedule.id;
  });
  return agreed;
}
