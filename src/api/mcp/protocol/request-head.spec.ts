// What a request is refused for by its head alone, and what its URL says for all calls.
import { expect, it } from 'vitest';
import { newSession } from './legacy-session.ts';
import { contextIn, faultOfHead, sessionIn, takes, toolsetIn } from './request-head.ts';

const HOST = { host: '127.0.0.1:8080' };
const fault = (headers: object) => faultOfHead({ headers } as never)?.status;

it('a page of another origin is refused, whatever it accepts', () => {
  const headers = { ...HOST, accept: 'application/json, text/event-stream' };
  expect(fault(headers)).toBeUndefined();
  expect(fault({ ...headers, origin: 'http://evil.example' })).toBe(403);
});

it.each([
  [undefined, true, false],
  ['application/json', true, false],
  ['application/json, text/event-stream', true, true],
  ['application/*', true, false],
  ['*/*', true, true],
  ['text/event-stream', false, true],
  ['text/html', false, false],
])('Accept %s: JSON %s, events %s', (accept, json, events) => {
  expect([takes(accept, 'application/json'), takes(accept, 'text/event-stream')]).toEqual([json, events]);
  expect(fault({ ...HOST, accept })).toBe(json ? undefined : 406);
});

it('a session that is none of this gateway’s is told apart from none', () => {
  const session = newSession({});
  expect(sessionIn(undefined)).toBeUndefined();
  expect(sessionIn(session)).toBe(session);
  expect([sessionIn('made-up'), sessionIn([session, session])]).toEqual(['', '']);
});

it('the toolset of the path wins over one in the query, and what is said twice is not said', () => {
  expect(contextIn({ query: { agent_id: 'a', mode: ['voice', 'text'] }, params: {} })).toEqual({
    agent_id: 'a',
  });
  expect(contextIn({ query: { toolset: 'all' }, params: { toolset: 'desk' } })).toEqual({ toolset: 'desk' });
  expect([toolsetIn({}), toolsetIn(undefined), toolsetIn({ toolset: 'x' })]).toEqual([
    undefined,
    undefined,
    'x',
  ]);
});
