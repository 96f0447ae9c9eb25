import { describe, expect, it } from 'vitest';
import {
  callOf,
  echoNext,
  functionOf,
  outcomeOf,
  principalOf,
  through,
  layerFor,
} from '../../../test/helpers/call-kit.ts';
import { authorization } from './index.ts';

const extension = authorization.create({});
const fn = functionOf({ metadata: { permissions: ['math:use', 'notes:delete'] } });

async function callWith(permissions: string[]) {
  const { calls, next } = echoNext();
  const call = callOf({ function: fn, principal: principalOf({ permissions: new Set(permissions) }) });
  return {
    response: await outcomeOf(async () => through(extension, call, next, {}), call),
    ran: calls.length > 0,
  };
}

describe('authorization', () => {
  it('a credential that lacks one of the permissions is refused, and told which', async () => {
    const { response, ran } = await callWith(['math:use']);
    expect(response).toMatchObject({
      ok: false,
      error: { type: 'PERMISSION_DENIED', details: { permissions: ['notes:delete'] } },
    });
    expect(ran).toBe(false);
  });

  it.each([[['math:use', 'notes:delete']], [['math:*', 'notes:*']], [['*']]])(
    '%s is enough',
    async (permissions) => {
      expect((await callWith(permissions)).ran).toBe(true);
    },
  );

  it('lists show the tool to those who hold all of its permissions', () => {
    const shown = extension.stage === 'tool' ? extension.shownTo?.(fn, {}) : undefined;
    const isShown = (permissions: string[]) =>
      shown?.({ principal: principalOf({ permissions: new Set(permissions) }) });
    expect([['math:use'], ['math:*', 'notes:*'], ['*'], []].map(isShown)).toEqual([false, true, true, false]);
  });

  it('a tool that names no permission has no such step', () => {
    expect(layerFor(extension, functionOf(), {})).toBeUndefined();
    expect(layerFor(extension, fn, {})).toBeDefined();
  });
});
