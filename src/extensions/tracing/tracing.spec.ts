import { describe, expect, it } from 'vitest';
import { callOf, echoNext, through } from '../../../test/helpers/call-kit.ts';
import { tracing } from './index.ts';

const untraced = () => tracing.create({ tracedShare: undefined });

describe('tracing', () => {
  it("without an SDK, the call still carries the caller's trace id", async () => {
    const call = callOf({ context: { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` } });
    const response = await through(untraced(), call, echoNext().next, { content: false });
    expect(response.meta.traceId).toBe('ab'.repeat(16));
  });

  it('a malformed traceparent is ignored', async () => {
    const response = await through(
      untraced(),
      callOf({ context: { traceparent: 'junk' } }),
      echoNext().next,
      { content: false },
    );
    expect(response).toMatchObject({ ok: true, meta: { traceId: '' } });
  });
});
