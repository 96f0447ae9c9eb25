// CallSecrets: keeps the secrets that a handler was given out of everything it says.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { CallScrubber, ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { secretScrubber, type SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';

const MAX_CAUSE = 8_000;

/** One agent's config serves many calls, and most have no secrets in it. */
const known = new WeakMap<JsonObject, SecretScrubber | 'none'>();

/** Undefined: the call has no secrets. */
export function scrubberOf({ sensitiveConfig, scrubber: own }: ToolCall): CallScrubber | undefined {
  if (own !== undefined) return own;
  let scrubber = known.get(sensitiveConfig);
  if (scrubber === undefined) {
    const secrets = [...leavesOf(sensitiveConfig)];
    scrubber = secrets.length === 0 ? 'none' : secretScrubber(secrets);
    known.set(sensitiveConfig, scrubber);
  }
  return scrubber === 'none' ? undefined : scrubber;
}

export function scrubResult({ data, intents }: ToolResult, scrubber: CallScrubber): Promise<ToolResult> {
  return scrubber.jsonInSlices({ data, ...(intents !== undefined && { intents }) });
}

/** Of anything thrown: the same kind of failure, without the secrets. Its cause goes to the log, and is told as text. */
export function scrubFailure(failure: ToolFailure, scrubber: CallScrubber): ToolFailure {
  const { type, message, reason, origin, retryable, retryAfterMs, partialSideEffects, details, cause } =
    failure;
  const said = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return new ToolFailure(type, scrubber.text(message), {
    reason,
    origin,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(partialSideEffects !== undefined && { partialSideEffects }),
    details: scrubber.json(details),
    ...(cause !== undefined && { cause: scrubber.cut(said, MAX_CAUSE) }),
  });
}

function* leavesOf(value: JsonValue): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number') yield String(value);
  else if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) yield* leavesOf(item);
  }
}
