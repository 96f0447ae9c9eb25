// What requests about tasks say is taken or refused in words, whatever it is.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../protocol/exchange.ts';
import { CONTEXT_KEY } from '../tools/read-tool-call.ts';
import { afterOf, calledForOf, taskIdOf } from './task-params.ts';

const INVALID_PARAMS = -32_602;
const asking = (context: object, userId?: string) =>
  ({ asked: { context, ...(userId !== undefined && { principal: { userId } }) } }) as unknown as Exchange;
const META = (own: unknown) => ({ _meta: { [CONTEXT_KEY]: own } }) as never;

function codeOf(read: () => unknown): unknown {
  try {
    read();
    return 'taken';
  } catch (error) {
    return (error as { code?: unknown }).code ?? (error as { type?: unknown }).type;
  }
}

describe('the id of a task', () => {
  it('is a string, and anything else is told so', () => {
    expect(taskIdOf({ taskId: 'x' })).toBe('x');
    const other = fc.jsonValue().filter((value) => typeof value !== 'string');
    fc.assert(
      fc.property(other, (taskId) => {
        expect(codeOf(() => taskIdOf({ taskId } as never))).toBe(INVALID_PARAMS);
      }),
    );
    expect(codeOf(() => taskIdOf({}))).toBe(INVALID_PARAMS);
  });
});

describe('the place in a list', () => {
  it('is none where none is said, and of this list alone', () => {
    expect(afterOf({})).toBeUndefined();
    fc.assert(
      fc.property(fc.jsonValue(), (cursor) => {
        expect(['taken', INVALID_PARAMS]).toContain(codeOf(() => afterOf({ cursor } as never)));
      }),
    );
    expect(codeOf(() => afterOf({ cursor: 'x' }))).toBe(INVALID_PARAMS);
  });
});

describe('for whom tasks are', () => {
  it('the URL says it, the message over it, and a credential of one person always', () => {
    const url = { agent_id: 'desk', user_id: 'ann' };
    expect(calledForOf({}, asking(url))).toEqual({ agentId: 'desk', userId: 'ann', sessionId: undefined });
    expect(calledForOf({}, asking({}, 'bob'))).toMatchObject({ userId: 'bob' });
  });

  it('is refused in words where the message says something else than a context', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (own) => {
        expect(['taken', 'VALIDATION']).toContain(codeOf(() => calledForOf(META(own), asking({}))));
      }),
    );
  });
});
