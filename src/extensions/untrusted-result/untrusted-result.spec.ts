// untrusted-result: every answer says it, and a tool that is not marked pays nothing.
import { expect, it } from 'vitest';
import { callOf, echoNext, functionOf, layerFor, through } from '../../../test/helpers/call-kit.ts';
import { cachedResponse } from '../../contract/call/make-response.ts';
import { refusalOf } from '../../core/settle.ts';
import { untrustedResult } from './index.ts';

const extension = untrustedResult.create({});

it('answers of a marked tool say so, those that are given again and errors too', async () => {
  const { next } = echoNext();
  for (const give of [
    next,
    async (call: Parameters<typeof next>[0]) => cachedResponse(call, 1, '1'),
    async (call: Parameters<typeof next>[0]) => refusalOf(call, new Error('no')),
  ])
    expect((await through(extension, callOf(), give, { mark: true })).meta.untrusted).toBe(true);
});

it('is no part of the chain of any other tool', () => {
  expect(layerFor(extension, functionOf(), untrustedResult.optionsSchema.parse({}))).toBeUndefined();
});
