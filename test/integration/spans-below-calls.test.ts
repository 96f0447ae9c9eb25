// Specs of the spans below that of a call: their parent is what the call carries, and a call that nobody keeps has none.
import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { callOf, requestOf } from '../helpers/call-kit.ts';
import { toolFailure } from '../../src/contract/call/failure.ts';
import type { ToolCall } from '../../src/contract/call/tool-call.ts';
import { attemptSpans, extensionSpan } from '../../src/infra/telemetry/spans.ts';

const TRACE = 'ab'.repeat(16);
const SPAN = 'cd'.repeat(8);
const CALLERS = { traceparent: `00-${TRACE}-${SPAN}-01` };
const exporter = new InMemorySpanExporter();

beforeAll(() => {
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
  );
});
afterEach(() => exporter.reset());
afterAll(() => trace.disable());

function keptCall(
  context: ToolCall['context'] = { traceparent: `00-${TRACE}-${SPAN}-01` },
  kept = true,
  asked = {},
) {
  const call = callOf({ context, request: requestOf({ context: asked }) });
  Object.assign(call.progress, { traceId: TRACE, traceKept: kept });
  return call;
}

const spans = () =>
  exporter.getFinishedSpans().map((span) => ({
    name: span.name,
    trace: span.spanContext().traceId,
    parent: span.parentSpanContext?.spanId,
    state: span.spanContext().traceState?.serialize(),
    error: span.attributes['error.type'],
  }));

describe('a span below that of a call', () => {
  it('is around an attempt, which is given its trace context', async () => {
    const given: ToolCall[] = [];
    const answer = { content: [] } as never;
    const call = keptCall({ traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'a=b' });
    const got = await attemptSpans.around(call, (inside) => {
      given.push(inside);
      return Promise.resolve(answer);
    });
    expect(got).toBe(answer);
    expect(spans()).toEqual([
      { name: 'ute.attempt', trace: TRACE, parent: SPAN, state: 'a=b', error: undefined },
    ]);
    const own = exporter.getFinishedSpans()[0]?.spanContext().spanId;
    expect(given[0]?.context).toMatchObject({ traceparent: `00-${TRACE}-${own}-01`, tracestate: 'a=b' });
  });

  it('says why an attempt failed', async () => {
    const failing = () => Promise.reject(toolFailure('AUDIT_UNAVAILABLE', 'away'));
    await expect(attemptSpans.around(keptCall(), failing)).rejects.toThrow('away');
    expect(spans()).toMatchObject([{ name: 'ute.attempt', parent: SPAN, error: 'UNAVAILABLE' }]);
  });

  it('is for what an extension took, from 5 ms on', () => {
    extensionSpan('admission', keptCall(), 100, 104.9);
    extensionSpan('approval', keptCall(), 100, 105);
    expect(spans()).toMatchObject([{ name: 'ute.extension approval', trace: TRACE, parent: SPAN }]);
  });

  it.each([
    ['of a call that nobody keeps', keptCall(undefined, false)],
    ['of a call that has no span yet', keptCall({})],
    ['outside of the span of the call', keptCall(CALLERS, true, CALLERS)],
  ])('is not there %s', async (_which, call) => {
    const inside = await attemptSpans.around(call, (given) => Promise.resolve({ given } as never));
    extensionSpan('approval', call, 0, 1_000);
    expect([inside, spans()]).toEqual([{ given: call }, []]);
  });
});
