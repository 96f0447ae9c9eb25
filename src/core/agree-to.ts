// Agrees to a call that is to run later: as if it were made now, by the whole pipeline but its executor.
import type { JsonObject } from '../contract/json.ts';
import { metaOf } from '../contract/call/make-response.ts';
import type { ToolCall, ToolRequest } from '../contract/call/tool-call.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';
import type { ToolCaller } from '../ports/tool-caller.ts';

/** The call to be made, as a door reads it: with the caller's credential, for now. */
export type CallDraft = Pick<
  ToolRequest,
  'tool' | 'arguments' | 'context' | 'credential' | 'door' | 'timeoutMs'
>;

/**
 * It is checked, allowed and approved as the call itself would be, `terms` included. Gives what `keep` gave, also to
 * whoever repeats an idempotency key. Throws ToolFailure: whatever the call would be refused with.
 */
export async function agreeTo(
  caller: ToolCaller,
  draft: CallDraft,
  terms: JsonObject,
  keep: (call: ToolCall) => Promise<string>,
): Promise<string> {
  const response = await caller.execute({
    ...draft,
    terms,
    accept: async (call): Promise<ToolResponse> => ({
      ok: true,
      data: null,
      dataJson: 'null',
      intents: [],
      meta: { ...metaOf(call), acceptedAt: await keep(call) },
      rateLimits: call.progress.rateLimits,
    }),
  });
  if (!response.ok) throw failureOf(response);
  return response.meta.acceptedAt ?? '';
}

function failureOf({ error }: ToolResponse & { ok: false }): ToolFailure {
  const { type, message, reason, retryable, details, retryAfterMs } = error;
  const when = retryAfterMs === null ? {} : { retryAfterMs };
  return new ToolFailure(type, message, { reason, retryable, details, ...when });
}
