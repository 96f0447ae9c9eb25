// A failure without the connection's secrets, in its cause as well: that goes to the log.
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';

export function cleanFailure(error: unknown, scrubber: SecretScrubber): unknown {
  if (!(error instanceof ToolFailure)) return error;
  const { type, message, cause, details, retryAfterMs, partialSideEffects, ...rest } = error;
  const text = scrubber.text(message);
  const shown = scrubber.json(details);
  const said = cause instanceof Error ? scrubber.text(cause.message) : '';
  const isCauseClean = !(cause instanceof Error) || said === cause.message;
  if (text === message && shown === details && isCauseClean) return error;
  return new ToolFailure(type, text, {
    reason: rest.reason,
    origin: rest.origin,
    retryable: rest.retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(partialSideEffects !== undefined && { partialSideEffects }),
    details: shown,
    cause: isCauseClean ? cause : new Error(said),
  });
}
