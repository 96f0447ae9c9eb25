// Keeps an admitted call while its admission is open: audit, idempotency and the caller hear whether it was kept.
import type { Admission, Admitted, KeptCall } from '../contract/call/admission.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';

/** Gives where the call is kept. Throws ToolFailure, or anything else. */
export type Keep<Where> = (admitted: Admitted) => Promise<Where>;

export async function keepAdmitted(admission: Admission, keep: Keep<KeptCall>): Promise<ToolResponse> {
  if (!admission.admitted) return admission.response;
  let where: KeptCall;
  try {
    where = await keep(admission);
  } catch (error) {
    return admission.failed(error);
  }
  return admission.kept(where);
}

/**
 * The same for those whose answer is no envelope. Gives where the call is kept, also to whoever repeats an idempotency key.
 * Throws ToolFailure: whatever the call is refused with.
 */
export async function keptAt(admission: Admission, keep: Keep<string>): Promise<string> {
  const response = await keepAdmitted(admission, async (admitted) => ({ at: await keep(admitted) }));
  if (response.ok) return response.meta.acceptedAt ?? '';
  const { type, message, reason, retryable, details, retryAfterMs } = response.error;
  const when = retryAfterMs === null ? {} : { retryAfterMs };
  throw new ToolFailure(type, message, { reason, retryable, details, ...when });
}
