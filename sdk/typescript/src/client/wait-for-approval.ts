// Waits until a human has decided about a call, and runs it then: the same call with its token, again and again.
import { ConfirmationRequiredError, errorOfRefusal } from '../errors/gateway-error.ts';
import type { CallOptions } from './call-options.ts';
import { Deadline } from './deadline.ts';
import type { Answered } from './send-call.ts';

const POLL_MS = 2_000;

export async function untilDecided(
  first: Answered,
  { waitForApproval, onApproval, approvalPollMs = POLL_MS, signal }: CallOptions,
  redeem: (token: string) => Promise<Answered>,
): Promise<Answered> {
  const asked = askedFor(first);
  const token = asked?.confirmationToken;
  if (asked === undefined || token === undefined) return first;
  onApproval?.(asked);
  // An approval that has expired is told by the gateway: its clock counts.
  const deadline = new Deadline(typeof waitForApproval === 'number' ? waitForApproval : Infinity, signal);
  for (;;) {
    if (approvalPollMs >= deadline.leftMs) return first;
    await deadline.pause(approvalPollMs);
    const answered = await redeem(token);
    if (askedFor(answered)?.reason !== 'APPROVAL_PENDING') return answered;
  }
}

function askedFor({ envelope, status }: Answered): ConfirmationRequiredError | undefined {
  if (envelope.ok) return undefined;
  const error = errorOfRefusal(envelope, status);
  return error instanceof ConfirmationRequiredError ? error : undefined;
}
