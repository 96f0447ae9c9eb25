import { describe, expect, it } from 'vitest';
import { callOf, echoNext, outcomeOf, through } from '../../../test/helpers/call-kit.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { fromHooks } from './from-hooks.ts';

describe('fromHooks', () => {
  it('before may hand on a changed copy of the call', async () => {
    const { calls, next } = echoNext();
    const extension = fromHooks({ before: (call) => ({ ...call, arguments: { added: true } }) });
    const response = await through(extension, callOf(), next, {});
    expect(response).toMatchObject({ ok: true, data: { added: true } });
    expect(calls[0]?.arguments).toEqual({ added: true });
  });

  it('a ToolFailure from before refuses the call and the tool never runs', async () => {
    const { calls, next } = echoNext();
    const extension = fromHooks({
      before: () => {
        throw new ToolFailure('PERMISSION_DENIED', 'Closed at night.');
      },
    });
    const call = callOf();
    const response = await outcomeOf(() => through(extension, call, next, {}), call);
    expect(response).toMatchObject({ ok: false, error: { type: 'PERMISSION_DENIED' } });
    expect(calls).toHaveLength(0);
  });

  it('after sees every answer and may replace it; onError sees refusals alone', async () => {
    const seen: string[] = [];
    const extension = fromHooks({
      after: (_call, response) => {
        seen.push(response.ok ? 'ok' : response.error.type);
      },
      onError: (_call, response) => void seen.push(`error ${response.error.type}`),
    });
    const call = callOf();
    await through(extension, call, echoNext().next, {});
    const refusing = () => outcomeOf(() => Promise.reject(new ToolFailure('TIMEOUT', 'late')), call);
    await through(extension, call, refusing, {});
    expect(seen).toEqual(['ok', 'error TIMEOUT', 'TIMEOUT']);
  });

  it('denies by default when a hook crashes', () => {
    expect(fromHooks({}).onFailure).toBe('deny');
    expect(fromHooks({}).stage).toBe('tool');
  });
});
