// Which calls are traced: what the caller decided, else a share of them, and every call that failed.
import type { Attributes, Context, Link, SpanKind } from '@opentelemetry/api';
import {
  ParentBasedSampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type Sampler,
  type SamplingResult,
} from '@opentelemetry/sdk-trace';
import { isKeptTrace } from '../../../ports/telemetry/kept-trace.ts';
import { FAILED_CALL } from '../../../ports/telemetry/span-attributes.ts';

export class ErrorSampler implements Sampler {
  readonly #others: Sampler;

  /** `ratio`: of the traces that begin here, 0 to 1. */
  constructor(ratio: number) {
    this.#others = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }

  /** The span of a call that failed is made when it has ended: that is when it is known. */
  shouldSample(
    context: Context,
    traceId: string,
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    links: Link[],
  ): SamplingResult {
    if (attributes[FAILED_CALL] === true || isKeptTrace(context))
      return { decision: SamplingDecision.RECORD_AND_SAMPLED };
    return this.#others.shouldSample(context, traceId, name, kind, attributes, links);
  }

  toString(): string {
    return `ErrorSampler{${this.#others.toString()}}`;
  }
}
