// A call that is to run again is made anew, by whoever wants it: checked, allowed and approved as a call of its own.
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { StoredCall } from '../ports/calls/call-store.ts';
import type { ToolCaller } from '../ports/tool-caller.ts';
import { agreeTo, type CallDraft } from '../core/agree-to.ts';
import { newCallOf, toolRequestOf } from './accepted-request.ts';

export interface RetryWish extends Pick<CallDraft, 'credential' | 'door'> {
  /** Run it although it may have acted and its tool is not idempotent. */
  readonly force: boolean;
  /** From the refusal that asked for an approval, once that has been given. */
  readonly confirmationToken?: string;
}

/**
 * Gives the request to be run. An approval is for this retry of this call, and neither for a call nor for another retry.
 * Throws ToolFailure: whatever the call would be refused with now, and CONFIRMATION_REQUIRED.
 */
export async function agreeToRetry(
  caller: ToolCaller,
  { id, request: kept }: StoredCall,
  { force, confirmationToken, ...by }: RetryWish,
): Promise<string> {
  if (kept === undefined) throw new Error(`the row of call ${id} holds no request`);
  const { tool, arguments: args, context, timeoutMs } = toolRequestOf(id, kept, {});
  // What belonged to that one moment: its key would give the first outcome again.
  const { idempotencyKey: _key, traceparent: _parent, tracestate: _state, ...lasting } = context;
  const draft = { ...by, tool, arguments: args, timeoutMs, context: { ...lasting, confirmationToken } };
  let request = '';
  await agreeTo(caller, draft, { retry: { call_id: id, force } }, async (call) => {
    ({ request } = newCallOf(call, { maxWaitMs: 0 }));
    return `/v1/calls/${id}`;
  });
  if (request !== '') return request;
  throw new ToolFailure('INTERNAL', 'The gateway agreed to a call and kept nothing of it.');
}
