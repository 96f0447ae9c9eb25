// A call is read from its message and its URL, which must not contradict each other; what is wrong is the core's to refuse.
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import type { Era } from '../protocol/exchange.ts';
import { readToolCall } from './read-tool-call.ts';

interface Said {
  readonly context?: JsonObject;
  readonly era?: Era;
  readonly traced?: object;
}

function read(params: JsonObject, { context = {}, era = 'modern', traced = {} }: Said = {}) {
  const environment = { credential: { kind: 'none' }, timeoutMs: undefined, traced, prefer: {} };
  const asked = { environment, context, largeIntegers: ['/params/arguments/id'], era };
  return readToolCall(params, { asked, whenGone: () => undefined } as never);
}

it('arguments, context and key are those of the message', () => {
  const call = read({
    name: 'add',
    arguments: { a: 1 },
    _meta: { 'io.ute/context': { user_id: 'ann' }, 'io.ute/idempotencyKey': 'once' },
  });
  expect(call).toMatchObject({
    door: 'mcp',
    tool: 'add',
    arguments: { a: 1 },
    context: { userId: 'ann', idempotencyKey: 'once' },
    largeIntegers: ['/arguments/id'].map((pointer) => pointer.replace('/arguments', '')),
  });
});

it('the URL speaks for every call, and a message that differs is refused', () => {
  const context = { user_id: 'ann' };
  expect(read({ name: 'add' }, { context })).toMatchObject({ context: { userId: 'ann' } });
  const same = { name: 'add', _meta: { 'io.ute/context': { user_id: 'ann' } } };
  expect(read(same, { context }).refusal).toBeUndefined();
  const other = { name: 'add', _meta: { 'io.ute/context': { user_id: 'bob' } } };
  expect(read(other, { context })).toMatchObject({
    tool: 'add',
    refusal: { details: { violations: [{ pointer: '/context/user_id' }] } },
  });
});

it.each([
  [{}, '/name'],
  [{ name: 7 }, '/name'],
  [{ name: 'add', _meta: { 'io.ute/context': [] } }, '/context'],
])('%j is refused, with the field', (params, pointer) => {
  expect(read(params).refusal).toMatchObject({ details: { violations: [{ pointer }] } });
});

it('the trace of the message comes before that of the request', () => {
  const traced = { traceparent: 'of the request', tracestate: 'its state' };
  expect(read({ name: 'add' }, { traced }).context).toMatchObject(traced);
  const own = read({ name: 'add', _meta: { traceparent: 'of the message' } }, { traced });
  expect(own.context.traceparent).toBe('of the message');
  expect(own.context.tracestate).toBeUndefined();
});

it('a task that is none is refused of clients that know tasks so, and means nothing to others', () => {
  expect(read({ name: 'add', task: 'yes' }, { era: 'legacy' }).refusal).toMatchObject({
    details: { violations: [{ pointer: '/task' }] },
  });
  expect(read({ name: 'add', task: { ttl: 5 } }, { era: 'legacy' }).refusal).toBeUndefined();
  expect(read({ name: 'add', task: 'yes' }).refusal).toBeUndefined();
});
