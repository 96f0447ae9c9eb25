// The executor of a tool that agents have secrets for: decrypted for one attempt, and kept out of everything that comes out of it.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import type { CallEvent, CallScrubber, Emit, ToolCall } from '../../contract/call/tool-call.ts';
import { statusReason } from '../../contract/call/reasons/status-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { writeJson } from '../../lib/json/write-json.ts';
import { callScrubber, SECRET_MARK, type SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import { secretParts } from '../../lib/secrets/secret-parts.ts';

const UNAUTHORIZED = statusReason(401);

/** Nothing is done for calls without secrets. */
export function withSecrets(prepared: PreparedFunction): PreparedFunction {
  const { yieldsPlainJson, upstream, runsOwnCode } = prepared;
  return {
    ...(yieldsPlainJson !== undefined && { yieldsPlainJson }),
    ...(upstream !== undefined && { upstream }),
    ...(runsOwnCode !== undefined && { runsOwnCode }),
    execute(call, emit) {
      const open = call.agentTool?.openSecrets;
      return open === undefined ? prepared.execute(call, emit) : runWithSecrets(prepared, open, call, emit);
    },
    ...(prepared.render !== undefined && { render: (call: ToolCall) => renderMarked(prepared, call) }),
  };
}

async function runWithSecrets(
  prepared: PreparedFunction,
  open: () => Promise<JsonObject>,
  call: ToolCall,
  emit: Emit,
): Promise<ToolResult> {
  const sensitiveConfig = await open();
  const scrubber = await callScrubber([...textsOf(sensitiveConfig)]);
  const events = new ScrubbedEvents(scrubber, emit);
  try {
    const result = await prepared.execute({ ...call, sensitiveConfig, scrubber }, events.pass);
    const plain = prepared.yieldsPlainJson === true ? result : { ...result, data: asJson(result.data) };
    return await scrubber.jsonInSlices(plain);
  } catch (error) {
    if (error instanceof ToolFailure && error.reason === UNAUTHORIZED) call.agentTool?.tokenRefused?.();
    throw error === call.signal.reason ? error : scrubbed(error, scrubber);
  } finally {
    events.end();
  }
}

/** What would be sent, a mark in the place of each secret. */
function renderMarked(prepared: PreparedFunction, call: ToolCall): JsonObject | Promise<JsonObject> {
  const fields = call.agentTool?.secretFields ?? [];
  const sensitiveConfig = Object.fromEntries(fields.map((field) => [field, SECRET_MARK]));
  return prepared.render?.({ ...call, sensitiveConfig }) ?? {};
}

/** A partial result that is text may cut a secret in two: what may become one waits for the next piece. */
class ScrubbedEvents {
  readonly #scrubber: SecretScrubber;
  readonly #emit: Emit;
  #open: ReturnType<SecretScrubber['stream']> | undefined;

  constructor(scrubber: SecretScrubber, emit: Emit) {
    this.#scrubber = scrubber;
    this.#emit = emit;
  }

  readonly pass = (event: CallEvent): void => {
    if (event.kind === 'partial' && typeof event.data === 'string') {
      this.#open ??= this.#scrubber.stream();
      this.#text(this.#open.push(event.data));
      return;
    }
    if (event.kind === 'partial') this.end();
    this.#emit(this.#scrubber.json(event));
  };

  end(): void {
    const rest = this.#open?.end() ?? '';
    this.#open = undefined;
    this.#text(rest);
  }

  #text(data: string): void {
    if (data !== '') this.#emit({ kind: 'partial', data });
  }
}

/** The same failure without secrets, in its cause as well: that goes to the log, as text. */
function scrubbed(error: unknown, scrubber: CallScrubber): unknown {
  if (!(error instanceof ToolFailure)) return new Error(scrubber.text(said(error)));
  const { type, message, reason, origin, retryable, retryAfterMs, partialSideEffects, details, cause } =
    error;
  return new ToolFailure(type, scrubber.text(message), {
    reason: scrubber.text(reason),
    origin,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(partialSideEffects !== undefined && { partialSideEffects }),
    details: scrubber.json(details),
    ...(cause !== undefined && { cause: scrubber.text(said(cause)) }),
  });
}

function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause === undefined ? '' : `\ncaused by: ${said(error.cause)}`;
  return `${error.stack ?? error.message}${inner}`;
}

/** As it will be written: what an object says of itself in toJSON is looked through as well. */
function asJson(data: JsonValue): JsonValue {
  try {
    return JSON.parse(writeJson(data ?? null) ?? 'null') as JsonValue;
  } catch {
    // What JSON cannot carry, the core refuses.
    return data;
  }
}

/** Shorter lines of a key in several would be found in innocent text. */
const MIN_LINE = 8;

function* textsOf(value: JsonValue): Generator<string> {
  if (typeof value === 'number') yield String(value);
  else if (typeof value === 'string') {
    yield* secretParts(value);
    const lines = value.split(/\r?\n/);
    if (lines.length > 1) yield* lines.map((line) => line.trim()).filter((line) => line.length >= MIN_LINE);
  } else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) yield* textsOf(inner);
  }
}
