// Specs of ErrorSampler: the caller decides, else a share; what failed is always kept.
import { createHash } from 'node:crypto';
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { KEPT_TRACE } from '../../../ports/telemetry/kept-trace.ts';
import { FAILED_CALL } from '../../../ports/telemetry/span-attributes.ts';
import { ErrorSampler } from './error-sampler.ts';

const TRACE_ID = 'ab'.repeat(16);
const parent = (traceFlags: number) =>
  trace.setSpanContext(ROOT_CONTEXT, {
    traceId: TRACE_ID,
    spanId: 'cd'.repeat(8),
    traceFlags,
    isRemote: true,
  });

function keeps(ratio: number, context = ROOT_CONTEXT, attributes = {}, traceId = TRACE_ID): boolean {
  const { decision } = new ErrorSampler(ratio).shouldSample(
    context,
    traceId,
    'x',
    SpanKind.INTERNAL,
    attributes,
    [],
  );
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
}

describe('ErrorSampler', () => {
  it('follows the caller, whatever the share is', () => {
    expect([keeps(0, parent(1)), keeps(1, parent(0))]).toEqual([true, false]);
  });

  it('keeps a call that failed although its caller traces nothing', () => {
    expect(keeps(0, parent(0), { [FAILED_CALL]: true })).toBe(true);
  });

  it('keeps a trace of which that was decided before', () => {
    expect(keeps(0, KEPT_TRACE)).toBe(true);
  });

  it('keeps about the share that it is told of the traces that begin here', () => {
    const ids = Array.from({ length: 2_000 }, (_, index) =>
      createHash('md5').update(String(index)).digest('hex'),
    );
    const kept = ids.filter((id) => keeps(0.1, ROOT_CONTEXT, {}, id)).length;
    expect([keeps(0), keeps(1)]).toEqual([false, true]);
    expect(kept / ids.length).toBeCloseTo(0.1, 1);
  });
});
