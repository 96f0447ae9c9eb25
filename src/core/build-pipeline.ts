// Builds the onion: one function out of extensions, outermost first, each with its failure policy and its time.
import type { Extension, Next } from '../contract/plugin.ts';
import { ToolFailure } from '../contract/tool-failure.ts';
import type { ToolCall } from '../contract/tool-call.ts';
import type { ToolResponse } from '../contract/tool-response.ts';
import type { Log } from '../ports/log.ts';
import type { Histogram } from '../ports/metrics.ts';
import { leftAt, stampLeft } from './deadline.ts';
import { refusalOf } from './settle.ts';

/** An extension with its options merged and checked: what a chain is made of. */
export interface Layer {
  readonly name: string;
  readonly extension: Extension<unknown>;
  readonly options: unknown;
  /** Gets the seconds spent in this extension itself, without what it wraps. */
  readonly seconds: Histogram;
}

/** `innermost` must not throw. The returned function never does. */
export function buildPipeline(layers: readonly Layer[], innermost: Next, log: Log): Next {
  let next = innermost;
  for (const layer of layers.toReversed()) next = wrap(layer, next, log);
  return next;
}

function wrap(layer: Layer, inner: Next, log: Log): Next {
  const { extension, options, seconds } = layer;
  const around: Next = async (call) => {
    const crossing = new Crossing(inner);
    const enteredAt = performance.now();
    try {
      return await extension.around(call, crossing.next, options);
    } catch (error) {
      return await afterThrow(layer, call, crossing, error, log);
    } finally {
      const now = performance.now();
      seconds.observe((now - enteredAt - crossing.insideMs(call)) / 1000);
      stampLeft(call, now);
    }
  };
  if (extension.passes === undefined) return around;
  return (call) => (extension.passes?.(call, options) === true ? inner(call) : around(call));
}

/** One passage of one call through one layer: guards against a second `next` and keeps the inner answer. */
class Crossing {
  /** The inside's answer, once asked for. Never rejects. */
  answer: Promise<ToolResponse> | undefined;
  readonly next: Next;
  #askedAt = 0;

  constructor(inner: Next) {
    this.next = (call) => {
      if (this.answer !== undefined) {
        return Promise.reject(new Error('next() was called a second time: a call runs once'));
      }
      this.#askedAt = performance.now();
      this.answer = inner(call);
      return this.answer;
    };
  }

  /** Read when the layer is done: the last to be left before it was the one inside. */
  insideMs(call: ToolCall): number {
    return this.answer === undefined ? 0 : Math.max(0, leftAt(call) - this.#askedAt);
  }
}

/**
 * A ToolFailure from a `deny` extension is its refusal. Anything else is a crash: `deny` refuses the call,
 * `continue` goes on without the extension, and never runs the inside twice.
 */
async function afterThrow(
  layer: Layer,
  call: ToolCall,
  crossing: Crossing,
  error: unknown,
  log: Log,
): Promise<ToolResponse> {
  const denies = layer.extension.onFailure === 'deny';
  const refuses = denies && error instanceof ToolFailure;
  if (!refuses) log.error({ callId: call.id, extension: layer.name, err: error }, 'extension crashed');
  if (!denies) return crossing.answer ?? crossing.next(call);
  const inner = await crossing.answer;
  const refusal = refusalOf(call, refuses ? error : crashed(layer.name, error));
  return inner === undefined ? refusal : { ...refusal, meta: inner.meta };
}

function crashed(extension: string, cause: unknown): ToolFailure {
  const message = `The call was refused because the gateway's "${extension}" step failed.`;
  return new ToolFailure('INTERNAL', message, { reason: 'EXTENSION_FAILED', cause });
}
