// Builds the onion: one function out of extensions, outermost first, each with its failure policy and its time.
import type { Next } from '../contract/plugin.ts';
import type { Log } from '../ports/telemetry/log.ts';
import { Crossing, type Layer } from './crossing.ts';

export type { Layer } from './crossing.ts';

/** `innermost` must not throw. The returned function never does, and ends soon after the call's signal aborts. */
export function buildPipeline(layers: readonly Layer[], innermost: Next, log: Log): Next {
  let next = innermost;
  for (const layer of layers.toReversed()) next = wrap(layer, next, log);
  return next;
}

function wrap(layer: Layer, inner: Next, log: Log): Next {
  const { extension, options } = layer;
  const around: Next = (call) =>
    new Promise((resolve) => new Crossing(layer, call, log, resolve).enter(inner));
  if (extension.passes === undefined) return around;
  return (call) => (extension.passes?.(call, options) === true ? inner(call) : around(call));
}
