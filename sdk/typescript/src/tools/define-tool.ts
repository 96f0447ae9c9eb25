// defineTool: a function with its schema, to be declared at the gateway and called by it.
import type { ErrorType } from '../generated/gateway.ts';
import { jsonSchemaOf, type JsonSchema, type Schema } from './schema.ts';

export interface ToolMetadata {
  readonly version?: string;
  readonly category?: 'retrieval' | 'action' | 'utility' | (string & {});
  readonly permissions?: readonly string[];
  readonly risk_level?: 'low' | 'medium' | 'high' | 'critical';
  readonly is_dangerous?: boolean;
  readonly requires_approval?: boolean;
  readonly read_only?: boolean;
  readonly idempotent?: boolean;
  readonly modes?: readonly ('voice' | 'text' | 'live_call')[];
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly documentation?: string;
}

/** What comes with a call from the gateway. */
export interface CallTold {
  /** Aborted when the time of the call is over, or its caller has gone. */
  readonly signal: AbortSignal;
  /** W3C trace context, where the gateway sent one. */
  readonly traceparent: string | undefined;
}

export interface ToolOptions<Args, Result> {
  /** Letters, digits, `_`, `.` and `-`. */
  readonly name: string;
  /** What a model reads. */
  readonly description: string;
  readonly input: Schema<Args>;
  readonly output?: Schema<Result>;
  readonly metadata?: ToolMetadata;
  readonly timeoutMs?: number;
  readonly execute: (args: Args, call: CallTold) => Result | Promise<Result>;
}

export interface DefinedTool<Args = never, Result = unknown> extends ToolOptions<Args, Result> {
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | undefined;
}

/** Any tool, whatever it takes. */
export type AnyTool = Omit<DefinedTool, 'execute' | 'input' | 'output'> & {
  readonly input: object;
  readonly execute: (args: never, call: CallTold) => unknown;
};

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;

export function defineTool<Args, Result>(options: ToolOptions<Args, Result>): DefinedTool<Args, Result> {
  const { name, input, output } = options;
  if (!NAME.test(name) || /^\.{1,2}$/.test(name))
    throw new TypeError(`name: expected 1 to 128 letters, digits, "_", "." and "-", found "${name}".`);
  const inputSchema = jsonSchemaOf(input, 'input', `input of ${name}`);
  if (inputSchema['type'] !== 'object')
    throw new TypeError(
      `input of ${name}: expected a schema of an object, found ${JSON.stringify(inputSchema['type'])}.`,
    );
  const outputSchema = output === undefined ? undefined : jsonSchemaOf(output, 'output', `output of ${name}`);
  return { ...options, inputSchema, outputSchema };
}

/** Thrown by a tool: an error that the caller is to hear of. Anything else that is thrown is told as a failure without words. */
export class ToolError extends Error {
  readonly type: ToldType;
  readonly retryAfterMs: number | undefined;

  constructor(
    type: ToldType,
    message: string,
    options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ToolError';
    this.type = type;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Those that an HTTP status can say. */
export type ToldType = Extract<
  ErrorType,
  'PERMANENT' | 'NOT_FOUND' | 'CONFLICT' | 'PERMISSION_DENIED' | 'RATE_LIMIT' | 'TRANSIENT'
>;
