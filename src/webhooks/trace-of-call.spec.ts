// Specs of the trace that a message about a call goes on with.
import { expect, it } from 'vitest';
import { traceOfCall } from './trace-of-call.ts';

const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;

it.each([
  { request: JSON.stringify({ context: { traceparent, sessionId: 's' } }), expected: { traceparent } },
  { request: JSON.stringify({ context: { traceparent: 'x\r\ny: z' } }), expected: undefined },
  { request: JSON.stringify({ context: {} }), expected: undefined },
  { request: '{}', expected: undefined },
  { request: undefined, expected: undefined },
])('$request', ({ request, expected }) => {
  expect(traceOfCall({ ...(request !== undefined && { request }) })).toEqual(expected);
});
