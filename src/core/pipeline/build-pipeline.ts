// Builds the onion: one function out of layers, outermost first, each with its failure policy and its time.
import type { Next } from '../../contract/plugin.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { Crossing, type NamedLayer } from './crossing.ts';

export type { NamedLayer } from './crossing.ts';

/** Of a call that is explained, and does not run. */
export function explaining(layers: readonly NamedLayer[]): readonly NamedLayer[] {
  return layers.filter(({ explains }) => explains === true);
}

/** `innermost` must not throw. The returned function never does, and ends soon after the call's signal aborts. */
export function buildPipeline(layers: readonly NamedLayer[], innermost: Next, log: Log): Next {
  return layers.reduceRight<Next>(
    (inner, layer) => (call) => new Crossing(layer, inner, call, log).cross(),
    innermost,
  );
}
