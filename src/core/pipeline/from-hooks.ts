// fromHooks: a hook before the call and one after it as an extension, for those who need no more than that.
import type { Extension, Layer } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';

export interface Hooks<Options> {
  readonly stage?: 'request' | 'tool';
  /** Default deny: a hook that crashes must not let a call slip by. */
  readonly onFailure?: 'deny' | 'continue';
  /** May return a changed copy of the call; throws ToolFailure to refuse. */
  before?(call: ToolCall, options: Options): Promise<ToolCall | void> | ToolCall | void;
  /** Sees every answer, refusals too; may return another one. */
  after?(
    call: ToolCall,
    response: ToolResponse,
    options: Options,
  ): Promise<ToolResponse | void> | ToolResponse | void;
  /** Sees refusals only, before `after`. */
  onError?(call: ToolCall, response: ToolResponse & { ok: false }, options: Options): Promise<void> | void;
}

export function fromHooks<Options>(hooks: Hooks<Options>): Extension<Options> {
  const { stage = 'tool', onFailure = 'deny' } = hooks;
  return stage === 'request'
    ? { stage, onFailure, prepare: (options) => layerOf(hooks, options) }
    : { stage, onFailure, prepare: (_fn, options) => layerOf(hooks, options) };
}

function layerOf<Options>(hooks: Hooks<Options>, options: Options): Layer {
  return async function aroundHooks(call, next) {
    const entering = (await hooks.before?.(call, options)) ?? call;
    const response = await next(entering);
    if (!response.ok) await hooks.onError?.(entering, response, options);
    return (await hooks.after?.(entering, response, options)) ?? response;
  };
}
