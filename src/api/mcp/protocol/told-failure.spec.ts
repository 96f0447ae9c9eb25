// A failure of the gateway's own as a client of MCP hears it, and nothing of what is no such failure.
import { expect, it } from 'vitest';
import { ERROR_TYPES, type ErrorType } from '../../../contract/call/error-types.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Exchange } from './exchange.ts';
import { toldByProtocol } from './told-failure.ts';

const exchangeOf = () => ({ status: 200 }) as Exchange;
const INTERNAL_ERROR = -32_603;
const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;
const CODES: { readonly [Type in ErrorType]?: number } = {
  VALIDATION: INVALID_PARAMS,
  NOT_FOUND: INVALID_PARAMS,
  CONFLICT: INVALID_PARAMS,
  UNAVAILABLE: INTERNAL_ERROR,
};

it.each(Object.keys(ERROR_TYPES) as ErrorType[])(
  '%s has a code, its reason and its details',
  async (type) => {
    const exchange = exchangeOf();
    const secret = new Error('the password is hunter2');
    const failure = new ToolFailure(type, 'No.', { reason: 'WHY', details: { a: 1 }, cause: secret });
    const told: unknown = await toldByProtocol(exchange, () => Promise.reject(failure)).catch(
      (error: unknown) => error,
    );
    expect(told).toMatchObject({
      code: CODES[type] ?? INVALID_REQUEST,
      message: 'No.',
      data: { type, reason: 'WHY', message: 'No.', details: { a: 1 } },
    });
    expect(exchange.status).toBe(type === 'PERMISSION_DENIED' ? 403 : 200);
    expect(JSON.stringify((told as { data: unknown }).data)).not.toContain('hunter2');
  },
);

it('what is made is handed on, and what is no such failure is thrown as it is', async () => {
  const fault = new TypeError('a fault of the program');
  expect(await toldByProtocol(exchangeOf(), () => 7)).toBe(7);
  const thrown = toldByProtocol(exchangeOf(), () => {
    throw fault;
  });
  await expect(thrown).rejects.toBe(fault);
});
