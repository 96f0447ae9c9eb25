// What a keyed call is answered with when it is not run: the first outcome again, or why there is none.
import { metaOf } from '../../contract/call/make-response.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import { parseOwn } from '../../lib/large-json/parse-json.ts';
import type { StoredOutcome } from '../../ports/idempotency-store.ts';

export async function replay(call: ToolCall, outcome: StoredOutcome): Promise<ToolResponse> {
  call.progress.replayed = true;
  const { rateLimits } = call.progress;
  if (!outcome.ok) return { ok: false, error: outcome.error, meta: metaOf(call), rateLimits };
  const { dataJson, intents, truncated, acceptedAt, awaited } = outcome;
  const meta = {
    ...metaOf(call),
    ...(truncated !== undefined && { truncated }),
    ...(acceptedAt !== undefined && { acceptedAt }),
    ...(awaited !== undefined && { awaited }),
  };
  return { ok: true, data: await parseOwn(dataJson), dataJson, intents, meta, rateLimits };
}

export function missing(): ToolFailure {
  return toolFailure('IDEMPOTENCY_KEY_REQUIRED', 'Calls of this tool need an idempotency key.', {
    details: { field: 'idempotency_key' },
  });
}

export function malformed(): ToolFailure {
  const message = 'An idempotency key is 1 to 255 printable ASCII characters without spaces.';
  return toolFailure('IDEMPOTENCY_KEY_MALFORMED', message, { details: { field: 'idempotency_key' } });
}

export function inFlight(callId: string): ToolFailure {
  return toolFailure('IDEMPOTENCY_IN_FLIGHT', 'A call with this idempotency key is under way.', {
    retryable: true,
    retryAfterMs: 1_000,
    details: { call_id: callId },
  });
}

export function otherPayload(): ToolFailure {
  return toolFailure('PAYLOAD_MISMATCH', 'This idempotency key was used for a call with other arguments.');
}

export function unknownOutcome(callId: string): ToolFailure {
  const message =
    'The gateway that ran the call with this idempotency key died, and the call may not be run twice: an operator has to find out.';
  return new ToolFailure('OUTCOME_UNKNOWN', message, {
    partialSideEffects: true,
    details: { call_id: callId },
  });
}
