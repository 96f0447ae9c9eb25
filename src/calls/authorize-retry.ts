// A call that is to run again is made anew, by whoever wants it: checked, allowed and approved as a call of its own.
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { StoredCall } from '../ports/calls/call-store.ts';
import type { ToolCaller } from '../ports/tool-caller.ts';
import type { AdmitRequest } from '../contract/call/admission.ts';
import { admittedCallOf, newCallOf } from './accepted-request.ts';
import { keptAt } from './keep-admitted.ts';

export interface RetryWish extends Pick<AdmitRequest, 'credential' | 'door'> {
  /** Run it although it may have acted and its tool is not idempotent. */
  readonly force: boolean;
  /** From the refusal that asked for an approval, once that has been given. */
  readonly confirmationToken?: string;
}

/**
 * Gives the request to be run. An approval is for this retry of this call, and neither for a call nor for another retry.
 * Throws ToolFailure: whatever the call would be refused with now, and CONFIRMATION_REQUIRED.
 */
export async function authorizeRetry(
  caller: Pick<ToolCaller, 'admit'>,
  { id, request: kept }: StoredCall,
  { force, confirmationToken, ...by }: RetryWish,
): Promise<string> {
  if (kept === undefined) throw new Error(`the row of call ${id} holds no request`);
  const { tool, arguments: args, context, timeoutMs } = admittedCallOf(id, kept);
  // What belonged to that one moment: its key would give the first outcome again.
  const { idempotencyKey: _key, traceparent: _parent, tracestate: _state, ...lasting } = context;
  const said = { tool, arguments: args, timeoutMs, context: { ...lasting, confirmationToken } };
  const admission = await caller.admit({
    ...by,
    ...said,
    isKept: true,
    terms: { retry: { call_id: id, force } },
  });
  let request = '';
  await keptAt(admission, async (admitted) => {
    ({ request } = newCallOf(admitted, { maxWaitMs: 0 }));
    return `/v1/calls/${id}`;
  });
  if (request !== '') return request;
  throw new ToolFailure('INTERNAL', 'The gateway agreed to a call and kept nothing of it.');
}
