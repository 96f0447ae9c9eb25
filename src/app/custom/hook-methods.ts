// Extensions by hooks alone: an object, mostly of a class, with before_execute, after_execute and on_error, and nothing else.
import { fromHooks } from '../../core/pipeline/from-hooks.ts';
import type { Extension } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolRefusal, ToolResponse } from '../../contract/call/tool-response.ts';

/** Each may be missing, and is called on the object. What they may give and throw is what `fromHooks` says. */
export interface HookMethods<Options = unknown> {
  readonly stage?: 'request' | 'tool';
  readonly onFailure?: 'deny' | 'continue';
  /** What prepares layers is an extension as it is, and its hooks would not be called. */
  readonly prepare?: undefined;
  before_execute?(call: ToolCall, options: Options): Promise<ToolCall | void> | ToolCall | void;
  after_execute?(
    call: ToolCall,
    response: ToolResponse,
    options: Options,
  ): Promise<ToolResponse | void> | ToolResponse | void;
  on_error?(call: ToolCall, response: ToolRefusal, options: Options): Promise<void> | void;
}

const NAMES = ['before_execute', 'after_execute', 'on_error'] as const;

export function hasHookMethods(made: object): made is HookMethods {
  return NAMES.some((name) => name in made && typeof (made as HookMethods)[name] === 'function');
}

export function fromHookMethods(made: HookMethods): Extension<unknown> {
  return fromHooks({
    stage: made.stage ?? 'tool',
    onFailure: made.onFailure ?? 'deny',
    before: (call, options) => made.before_execute?.(call, options),
    after: (call, response, options) => made.after_execute?.(call, response, options),
    onError: (call, response, options) => made.on_error?.(call, response, options),
  });
}
