// Reading calls off HTTP: what cannot be read becomes a refusal for the core, never an exception and never a guess.
import { describe, expect, it } from 'vitest';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { parseBody } from '../route/json-text.ts';
import { credentialOf } from '../server/credential.ts';
import { environmentOf, readCall } from './read-call.ts';

const whenGone = () => undefined;
const read = (parsed: unknown, headers: Record<string, string> = {}) =>
  readCall('greet', parsed, environmentOf({ headers }, whenGone));

describe('credentialOf', () => {
  it.each([
    [{ authorization: 'Bearer abc' }, { kind: 'bearer', token: 'abc' }],
    [{ authorization: 'bearer   abc ' }, { kind: 'bearer', token: 'abc' }],
    [{ 'x-api-key': 'abc' }, { kind: 'bearer', token: 'abc' }],
    [{ authorization: 'Basic abc' }, { kind: 'bearer', token: '' }],
    [{ authorization: 'abc' }, { kind: 'bearer', token: '' }],
    [{ authorization: 'Basic abc', 'x-api-key': 'good' }, { kind: 'several' }],
    [
      { authorization: 'Bearer abc', 'x-api-key': 'abc' },
      { kind: 'bearer', token: 'abc' },
    ],
    [{ authorization: 'Bearer abc', 'x-api-key': 'other' }, { kind: 'several' }],
    [{ 'x-api-key': 'abc, other' }, { kind: 'several' }],
    [{}, { kind: 'none' }],
  ])('%j is %j', (headers, credential) => {
    expect(credentialOf({ headers })).toEqual(credential);
  });
});

it('an authorization that is said twice is one where both say the same', () => {
  const said = (...each: readonly string[]) =>
    credentialOf({
      headers: { authorization: each[0] ?? '' },
      raw: { rawHeaders: ['Host', 'authorization', ...each.flatMap((one) => ['Authorization', one])] },
    });
  expect(said('Bearer abc')).toEqual({ kind: 'bearer', token: 'abc' });
  expect(said('Bearer abc', 'bearer  abc')).toEqual({ kind: 'bearer', token: 'abc' });
  expect(said('Bearer abc', 'Bearer other')).toEqual({ kind: 'several' });
});

describe('readCall', () => {
  it('hands on arguments, context, time limit and door', () => {
    const call = read(
      { arguments: { a: 1 }, context: { session_id: 's' } },
      { 'x-request-timeout-ms': '250', 'x-api-key': 'k' },
    );
    expect(call).toMatchObject({
      tool: 'greet',
      arguments: { a: 1 },
      context: { sessionId: 's' },
      timeoutMs: 250,
      door: 'rest',
    });
    expect(call.credential).toEqual({ kind: 'bearer', token: 'k' });
    expect(call.whenGone).toBe(whenGone);
    expect(call.refusal).toBeUndefined();
  });

  it('a body without arguments is a call without arguments', () => {
    expect(read({})).toMatchObject({ arguments: {}, context: {} });
  });

  it('headers of tracing and idempotency lie over the context', () => {
    const call = read(
      { context: { traceparent: 'body', session_id: 's' } },
      { traceparent: 'header', 'idempotency-key': 'k' },
    );
    expect(call.context).toEqual({ traceparent: 'header', sessionId: 's', idempotencyKey: 'k' });
  });

  it.each([
    ['a list', [], 'must be an object'],
    ['null', null, 'must be an object'],
    ['arguments that are a list', { arguments: [1] }, '/arguments must be an object'],
    ['arguments that are text', { arguments: '{}' }, '/arguments must be an object'],
    ['an unknown field', { argumnets: {} }, '/argumnets is not a field of a call'],
    ['a bad context', { context: { mode: 'x' } }, '/context/mode'],
  ])('%s is refused by the core, with the place', (_what, parsed, message) => {
    const { refusal, arguments: args } = read(parsed);
    expect(refusal).toBeInstanceOf(ToolFailure);
    expect(refusal).toMatchObject({
      type: 'VALIDATION',
      reason: 'MALFORMED_CALL',
      message: expect.stringContaining(message),
    });
    expect(args).toEqual({});
  });

  it.each(['0', '-5', '1.5', 'soon', '', '9999999999'])(
    'a time limit of %j is refused, not ignored',
    (limit) => {
      expect(read({}, { 'x-request-timeout-ms': limit }).refusal?.message).toContain('X-Request-Timeout-Ms');
    },
  );

  it('what refused the body already stays the refusal', () => {
    const tooLarge = new ToolFailure('PAYLOAD_TOO_LARGE', 'Too large.');
    expect(read(tooLarge).refusal).toBe(tooLarge);
  });
});

describe('parseBody', () => {
  it('takes no body for an empty call, and JSON for what it says', () => {
    expect([parseBody(undefined), parseBody(Buffer.alloc(0)), parseBody(Buffer.from('{"a":[1]}'))]).toEqual([
      {},
      {},
      { a: [1] },
    ]);
  });

  it('tells where the text is not acceptable', () => {
    expect(() => parseBody(Buffer.from('{"a":1,"a":2}'))).toThrow(
      expect.objectContaining({ type: 'VALIDATION', reason: 'DUPLICATE_KEY' }),
    );
  });
});
