// Specs of the trace context: what is not well formed goes nowhere, and what a span has can be read back.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { traceContextOf, traceHeaders } from './trace-context.ts';

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'.split('')), minLength: length, maxLength: length });

it('passes on nothing but a traceparent of the standard form, and no tracestate that could break a header', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ unit: 'binary' }), (traceparent, tracestate) => {
      const headers = traceHeaders({ traceparent, tracestate });
      if (headers === undefined) return;
      expect(headers.traceparent).toMatch(/^[0-9a-f-]{55}$/);
      expect(headers.tracestate ?? '').toMatch(/^[\x20-\x7e]*$/);
    }),
  );
  const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
  expect(traceHeaders({ traceparent, tracestate: 'a=b\r\nx: y' })).toEqual({ traceparent });
  expect(traceHeaders({ traceparent: `${traceparent}\n` })).toBeUndefined();
  expect(traceHeaders({})).toBeUndefined();
});

it('is that of the span, sampled or not', () => {
  fc.assert(
    fc.property(hex(32), hex(16), fc.constantFrom(0, 1), (traceId, spanId, traceFlags) => {
      const context = traceContextOf({ traceId, spanId, traceFlags });
      expect(context).toEqual({ traceparent: `00-${traceId}-${spanId}-0${traceFlags}` });
      expect(traceHeaders(context)).toEqual(context);
    }),
  );
});
