// Handlers inside the gateway process: `trusted: true`. Nothing stands between them and the gateway, and nothing can stop them.
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { CallEvent, CallScrubber, Emit, ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { writeJson } from '../../lib/json/write-json.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { NestedCalls } from '../../ports/nested-calls.ts';
import { scrubberOf, scrubFailure, scrubResult } from './call-secrets.ts';
import { NOTHING_TO_SCRUB } from '../../lib/secrets/scrub-secrets.ts';
import { HandlerContext, type CallMeta, type HandlerCall } from './handler-context.ts';
import { failureOfThrown, readReturned } from './read-outcome.ts';
import { callIsOver, ToolCallError } from './tool-call-error.ts';

export type Handler = (args: JsonObject, context: HandlerContext) => unknown;

/** HandlerContext leaves more than twice as much: see SecretScrubber.cut. */
const MAX_MESSAGE = 2_000;

export interface InProcessNeeds {
  readonly log: Log;
  readonly nestedCalls: NestedCalls;
}

export function runInProcess(
  handler: Handler,
  fn: ToolFunction,
  needs: InProcessNeeds,
): PreparedFunction['execute'] {
  return async (call, emit) => {
    const held = new InProcessCall(call, fn, emit, needs);
    const scrubber = scrubberOf(call);
    try {
      const result = await run(handler, call, held);
      return scrubber === undefined
        ? result
        : await scrubResult({ ...result, data: plain(result.data) }, scrubber);
    } catch (error) {
      throw scrubber === undefined || !(error instanceof ToolFailure) ? error : scrubFailure(error, scrubber);
    } finally {
      held.over = true;
    }
  };
}

async function run(handler: Handler, call: ToolCall, held: InProcessCall): Promise<ToolResult> {
  const scrubber = scrubberOf(call) ?? NOTHING_TO_SCRUB;
  let returned: unknown;
  try {
    returned = await handler(argumentsOf(call), new HandlerContext(held));
  } catch (thrown) {
    // A handler that gave up because its call did: the call's own reason says it better.
    throw call.signal.aborted ? call.signal.reason : failureOfThrown(thrown, scrubber);
  }
  return readReturned(returned, scrubber);
}

class InProcessCall implements HandlerCall {
  readonly #call: ToolCall;
  readonly #function: ToolFunction;
  readonly #emit: Emit;
  readonly #needs: InProcessNeeds;
  /** From then on it is nobody's call, and says and asks nothing more. */
  over = false;

  constructor(call: ToolCall, fn: ToolFunction, emit: Emit, needs: InProcessNeeds) {
    this.#call = call;
    this.#function = fn;
    this.#emit = emit;
    this.#needs = needs;
  }

  get meta(): CallMeta {
    return metaOf(this.#call, this.#function);
  }
  get config(): JsonObject {
    return this.#call.config;
  }
  get secrets(): JsonObject {
    return this.#call.sensitiveConfig;
  }
  get signal(): AbortSignal {
    return this.#call.signal;
  }

  emit(event: CallEvent): void {
    if (!this.over) pass(event, this.#call, this.#function, this.#emit, this.#needs.log);
  }

  async callTool(tool: string, args: JsonObject): Promise<JsonValue> {
    if (this.over) throw callIsOver();
    const response = await this.#needs.nestedCalls.run(this.#call, tool, args);
    if (!response.ok) throw new ToolCallError(response.error);
    return JSON.parse(response.dataJson) as JsonValue;
  }
}

export function metaOf({ id, context }: ToolCall, { spec, action }: ToolFunction): CallMeta {
  const { sessionId, agentId, userId, tenantId, mode } = context;
  return { callId: id, sessionId, agentId, userId, tenantId, mode, tool: spec.name, action: action?.name };
}

/** What a handler reports while it runs, to whoever listens; its log lines also into the gateway's log. */
export function pass(event: CallEvent, call: ToolCall, fn: ToolFunction, emit: Emit, log: Log): void {
  const said = shown(event, scrubberOf(call));
  if (said.kind === 'log') log[said.level]({ ...callLogFields(call), tool: fn.name }, said.message);
  emit(said);
}

function shown(event: CallEvent, scrubber: CallScrubber | undefined): CallEvent {
  const { cut } = scrubber ?? NOTHING_TO_SCRUB;
  if (event.kind === 'partial') return scrubber?.json(event) ?? event;
  return event.message === undefined ? event : { ...event, message: cut(event.message, MAX_MESSAGE) };
}

/** A handler may change its arguments; a retry, the audit and the cache key must not see that. */
function argumentsOf({ arguments: args }: ToolCall): JsonObject {
  const copy = { ...args };
  for (const [name, value] of Object.entries(copy)) {
    if (typeof value === 'object' && value !== null) copy[name] = structuredClone(value);
  }
  return copy;
}

/** What JSON cannot carry is left as it is: the core refuses it. */
function plain(data: JsonValue): JsonValue {
  try {
    return JSON.parse(writeJson(data ?? null) ?? 'null') as JsonValue;
  } catch {
    return data;
  }
}
