import { isSpanContextValid } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { newTrace } from './new-trace.ts';

it('gives ids that OpenTelemetry takes, and never the same ones again', () => {
  const traces = Array.from({ length: 1_000 }, newTrace);
  expect(traces.filter((ids) => !isSpanContextValid({ ...ids, traceFlags: 0 }))).toEqual([]);
  const ids = traces.flatMap(({ traceId, spanId }) => [traceId, spanId]);
  expect(new Set(ids).size).toBe(2 * traces.length);
});
