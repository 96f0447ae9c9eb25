// Which calls have a span, with the SDK's own tracer: what the caller traces, a share of the others, and whatever fails.
import { propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Next } from '../../src/contract/plugin.ts';
import type { ToolCall } from '../../src/contract/call/tool-call.ts';
import { toolFailure } from '../../src/contract/call/failure.ts';
import { buildPipeline } from '../../src/core/pipeline/build-pipeline.ts';
import { refusalOf } from '../../src/core/settle.ts';
import { tracing } from '../../src/extensions/tracing/index.ts';
import { ErrorSampler } from '../../src/infra/telemetry/otlp/error-sampler.ts';
import { callOf, echoNext, namedLayer, recordingLog } from '../helpers/call-kit.ts';

const exporter = new InMemorySpanExporter();
const CALLERS_TRACE = 'ab'.repeat(16);
const CALLERS_SPAN = 'cd'.repeat(8);
const callers = (flags: string) => ({
  context: { traceparent: `00-${CALLERS_TRACE}-${CALLERS_SPAN}-${flags}` },
});

beforeAll(() => {
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  // Whatever is kept is kept by the decision of the call, and not by the share of the sampler.
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors, sampler: new ErrorSampler(0) }));
});
afterEach(() => exporter.reset());
afterAll(() => {
  trace.disable();
  propagation.disable();
});

const spans = () =>
  exporter.getFinishedSpans().map((span) => ({
    name: span.name,
    traceId: span.spanContext().traceId,
    parent: span.parentSpanContext?.spanId,
    error: span.attributes['error.type'],
    tool: span.attributes['gen_ai.tool.name'],
    executor: span.attributes['ute.executor'],
  }));

const refused: Next = (call) =>
  Promise.resolve(refusalOf(call, toolFailure('AUDIT_UNAVAILABLE', 'The upstream is away.')));
const asking: Next = (call) =>
  Promise.resolve(refusalOf(call, toolFailure('APPROVAL_REQUIRED', 'Ask first.')));

/** In a chain, as the gateway calls it. */
function chained(share: number, next: Next, log = recordingLog()): Next {
  const extension = tracing.create({ tracedShare: share });
  const layer = extension.stage === 'request' ? extension.prepare({ content: true }) : undefined;
  return buildPipeline([namedLayer('tracing', layer, { onFailure: 'continue' })], next, log);
}

const traced = (share: number, call: ToolCall, next: Next) => chained(share, next)(call);

describe('a call of a caller who traces nothing', () => {
  it.each([
    [0, 0],
    [1, 1],
  ])('is traced by the share: %d of it, %d spans', async (share, count) => {
    const inner = echoNext();
    const { meta } = await traced(share, callOf(), inner.next);
    expect(spans()).toHaveLength(count);
    // Its ids go on all the same, as those of a trace that is kept or is not.
    const [inside] = inner.calls;
    expect(inside?.context.traceparent).toMatch(new RegExp(`^00-${meta.traceId}-[0-9a-f]{16}-0${count}$`));
    expect(inside?.progress.traceKept).toBe(count === 1);
  });

  it('has a span in its own trace where it failed, with what is known at its end', async () => {
    const { meta } = await traced(0, callOf(), refused);
    expect(spans()).toEqual([
      {
        name: 'execute_tool greet',
        traceId: meta.traceId,
        parent: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
        error: 'UNAVAILABLE',
        tool: 'greet',
        executor: 'test',
      },
    ]);
  });

  it('has none where it has to be confirmed first: that is no failure', async () => {
    await traced(0, callOf(), asking);
    expect(spans()).toEqual([]);
  });
});

describe('a call of a caller who traces', () => {
  it.each([
    ['01', 0, 1],
    ['00', 1, 0],
  ])('is traced as the caller says: %s, whatever the share (%d)', async (flags, share, count) => {
    await traced(share, callOf(callers(flags)), echoNext().next);
    expect(spans().map(({ traceId, parent }) => [traceId, parent])).toEqual(
      Array.from({ length: count }, () => [CALLERS_TRACE, CALLERS_SPAN]),
    );
  });

  it('has a span where it failed, although the caller does not keep its own', async () => {
    await traced(0, callOf(callers('00')), refused);
    expect(spans()).toMatchObject([{ traceId: CALLERS_TRACE, parent: CALLERS_SPAN, error: 'UNAVAILABLE' }]);
  });

  it('is one of a caller who traces nothing where the traceparent is not of the standard form', async () => {
    const { meta } = await traced(1, callOf({ context: { traceparent: 'junk' } }), echoNext().next);
    expect(spans()).toMatchObject([{ traceId: meta.traceId, parent: undefined }]);
  });
});

it('the answer is the one of what is inside, and does not wait for the span', async () => {
  const answer = echoNext().next(callOf());
  expect(chained(1, () => answer)(callOf())).toBe(answer);
});

it('a span that cannot be made is said in the log, and the call has its answer', async () => {
  const log = recordingLog();
  const broken: Next = async (call) => ({ ...(await echoNext().next(call)), meta: undefined as never });
  expect(await chained(1, broken, log)(callOf())).toMatchObject({ ok: true });
  expect(log.lines).toMatchObject([
    { level: 'error', message: 'extension crashed', fields: { extension: 'tracing' } },
  ]);
});
