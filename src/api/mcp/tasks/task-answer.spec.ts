// What the call of a task ended in is answered as the call itself would have been.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERROR_TYPES } from '../../../contract/call/error-types.ts';
import type { WriteTerms } from '../tools/write-tool-result.ts';
import { cancelledAnswer, taskAnswer } from './task-answer.ts';

const TERMS: WriteTerms = { hasOutputSchema: () => false };
const refusal = (error: object) => JSON.stringify({ ok: false, error, meta: { tool: 'add' } });
const parsed = (fields: string) => JSON.parse(`{${fields}}`) as Record<string, unknown>;

describe('the answer of a task', () => {
  it('is a result that says what went wrong, or an error of the protocol, for every type and origin', async () => {
    const type = fc.constantFrom(...Object.keys(ERROR_TYPES), 'NO_SUCH_TYPE');
    const origin = fc.constantFrom('caller', 'gateway', 'tool', 'nobody');
    await fc.assert(
      fc.asyncProperty(type, origin, fc.string(), async (said, by, message) => {
        const answer = await taskAnswer(refusal({ type: said, origin: by, message }), 'modern', TERMS);
        const isTold =
          answer.kind === 'error'
            ? Number.isInteger(answer.code) && answer.message === message
            : parsed(answer.fields)['isError'] === true;
        expect(isTold).toBe(true);
      }),
    );
  });

  it('of a credential that is good no more is no 401 for whoever asks now', async () => {
    const answer = await taskAnswer(
      refusal({ type: 'AUTH', origin: 'gateway', message: 'no', reason: 'CREDENTIAL_INVALID' }),
      'modern',
      TERMS,
    );
    expect(answer).toMatchObject({ kind: 'error', code: -32_600 });
  });

  it('of a call that was cancelled says so', () => {
    const answer = cancelledAnswer();
    expect(answer).toMatchObject({ kind: 'result', meta: {} });
    expect(parsed((answer as { fields: string }).fields)).toEqual({
      content: [{ type: 'text', text: 'CANCELLED: The call was cancelled.' }],
      isError: true,
    });
  });

  it('that is no envelope is not made up', async () => {
    await expect(taskAnswer('{}', 'modern', TERMS)).rejects.toThrow('no envelope');
  });
});
