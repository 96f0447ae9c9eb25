// HandlerContext: what a handler sees of its call besides the arguments. Built per call, its parts when asked for.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { CallEvent, Emit, ToolCall } from '../../contract/tool-call.ts';
import type { ToolFunction } from '../../contract/tool-function.ts';
import type { InteractionMode } from '../../contract/tool-spec.ts';
import type { Log } from '../../ports/log.ts';

type LogLevel = (CallEvent & { kind: 'log' })['level'];
/** `unknown`: handlers are JavaScript, and no compiler has checked what they pass. */
export type HandlerLog = { readonly [level in LogLevel]: (message: unknown) => void };

const MAX_LOG_MESSAGE = 2_000;

/** Getters on the class keep secrets out of a handler's own logging: as JSON, a context is `{}`. */
export class HandlerContext {
  readonly #call: ToolCall;
  readonly #function: ToolFunction;
  readonly #emit: Emit;
  readonly #log: Log;

  constructor(call: ToolCall, fn: ToolFunction, emit: Emit, log: Log) {
    this.#call = call;
    this.#function = fn;
    this.#emit = emit;
    this.#log = log;
    Object.freeze(this);
  }

  get callId(): string {
    return this.#call.id;
  }
  get sessionId(): string | undefined {
    return this.#call.context.sessionId;
  }
  get agentId(): string | undefined {
    return this.#call.context.agentId;
  }
  get userId(): string | undefined {
    return this.#call.context.userId;
  }
  get tenantId(): string | undefined {
    return this.#call.context.tenantId;
  }
  get mode(): InteractionMode | undefined {
    return this.#call.context.mode;
  }
  get tool(): string {
    return this.#function.spec.name;
  }
  get action(): string | undefined {
    return this.#function.action?.name;
  }
  /** What the operator set for this agent and tool. */
  get config(): JsonObject {
    return this.#call.config;
  }
  /** The secret part of the config. */
  get secrets(): JsonObject {
    return this.#call.sensitiveConfig;
  }
  /** Aborted when the call's time is over or nobody waits for it any more. */
  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get log(): HandlerLog {
    const write = (level: LogLevel, message: unknown): void => {
      const text = String(message).slice(0, MAX_LOG_MESSAGE);
      this.#log[level]({ callId: this.#call.id, tool: this.#function.name }, text);
      this.#emit({ kind: 'log', level, message: text });
    };
    return {
      debug: (message) => write('debug', message),
      info: (message) => write('info', message),
      warn: (message) => write('warn', message),
      error: (message) => write('error', message),
    };
  }

  /** `progress(fraction?, message?)`: how far the call has got, from 0 to 1. */
  get progress(): (fraction?: unknown, message?: string) => void {
    return (fraction, message) => {
      this.#emit({
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
    return (data) => this.#emit({ kind: 'partial', data: JSON.parse(JSON.stringify(data)) as JsonValue });
  }
}
