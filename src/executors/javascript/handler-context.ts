// HandlerContext: what a handler sees of its call besides the arguments; the same inside the gateway and in a worker.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { CallEvent } from '../../contract/call/tool-call.ts';
import type { InteractionMode } from '../../contract/tool/tool-spec.ts';
import { writeJson } from '../../lib/json/write-json.ts';

type LogLevel = (CallEvent & { kind: 'log' })['level'];
/** `unknown`: handlers are JavaScript, and no compiler has checked what they pass. */
export type HandlerLogger = { readonly [level in LogLevel]: (message: unknown) => void };

export interface CallMeta {
  readonly callId: string;
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
  readonly tenantId?: string | undefined;
  readonly mode?: InteractionMode | undefined;
  readonly tool: string;
  readonly action?: string | undefined;
}

/** The call as a context needs it. */
export interface HandlerCall {
  readonly meta: CallMeta;
  readonly config: JsonObject;
  readonly secrets: JsonObject;
  readonly signal: AbortSignal;
  emit(event: CallEvent): void;
  callTool(tool: string, args: JsonObject): Promise<JsonValue>;
}

// Taken before any handler is loaded: one that replaces them deceives itself alone.
const { parse } = JSON;

/** More than twice what is shown of it, once the call's secrets have been taken out. */
const MAX_LOG_MESSAGE = 4_001;

/** Getters on the class keep secrets out of a handler's own logging: as JSON, a context is `{}`. */
export class HandlerContext {
  readonly #call: HandlerCall;

  constructor(call: HandlerCall) {
    this.#call = call;
    Object.freeze(this);
  }

  get callId(): string {
    return this.#call.meta.callId;
  }
  get sessionId(): string | undefined {
    return this.#call.meta.sessionId;
  }
  get agentId(): string | undefined {
    return this.#call.meta.agentId;
  }
  get userId(): string | undefined {
    return this.#call.meta.userId;
  }
  get tenantId(): string | undefined {
    return this.#call.meta.tenantId;
  }
  get mode(): InteractionMode | undefined {
    return this.#call.meta.mode;
  }
  get tool(): string {
    return this.#call.meta.tool;
  }
  get action(): string | undefined {
    return this.#call.meta.action;
  }
  /** What the operator set for this agent and tool. */
  get config(): JsonObject {
    return this.#call.config;
  }
  /** The secret part of the config. */
  get secrets(): JsonObject {
    return this.#call.secrets;
  }
  /** Aborted when the call's time is over or nobody waits for it any more. */
  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get logger(): HandlerLogger {
    const write = (level: LogLevel, message: unknown): void =>
      this.#call.emit({ kind: 'log', level, message: String(message).slice(0, MAX_LOG_MESSAGE) });
    return {
      debug: (message) => write('debug', message),
      info: (message) => write('info', message),
      warn: (message) => write('warn', message),
      error: (message) => write('error', message),
    };
  }

  /** The older name of `logger`. */
  get log(): HandlerLogger {
    return this.logger;
  }

  /** `progress(fraction?, message?)`: how far the call has got, from 0 to 1. */
  get progress(): (fraction?: unknown, message?: string) => void {
    return (fraction, message) => {
      this.#call.emit({
        kind: 'progress',
        ...(typeof fraction === 'number' && Number.isFinite(fraction)
          ? { fraction: Math.min(Math.max(fraction, 0), 1) }
          : {}),
        ...(typeof message === 'string' ? { message: message.slice(0, MAX_LOG_MESSAGE) } : {}),
      });
    };
  }

  /** `partial(data)`: a piece of the result ahead of the rest. Throws for what is not JSON. */
  get partial(): (data: JsonValue) => void {
    return (data) => this.#call.emit({ kind: 'partial', data: copyOf(data) });
  }

  /**
   * `callTool(name, args)`: another tool, called as the same caller, inside the time that is left. Gives its data, or
   * throws an error with the `type`, `reason` and `message` of what the tool or the gateway answered.
   */
  get callTool(): (tool: unknown, args?: unknown) => Promise<JsonValue> {
    return async (tool, args = {}) => {
      if (typeof tool !== 'string')
        throw new TypeError('callTool: the first argument must be a tool’s name.');
      const plain: unknown = copyOf(args);
      if (!isJsonObject(plain)) throw new TypeError('callTool: the arguments must be an object.');
      return this.#call.callTool(tool, plain);
    };
  }
}

function copyOf(value: unknown): JsonValue {
  const text = writeJson(value);
  if (text === undefined) throw new TypeError('There is no JSON for it.');
  return parse(text) as JsonValue;
}
