// The id of a session is what its client has declared, for every replica, and nothing else is taken for one.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSession, LogLevels, newSession, opensUrls } from './legacy-session.ts';

it.each([
  [{ elicitation: { url: {} } }, true],
  [{ elicitation: { form: {} } }, false],
  [{ elicitation: {} }, false],
  [{ elicitation: { url: true } }, false],
  [{}, false],
  [undefined, false],
  ['elicitation', false],
])('%j: whether it opens URLs is read from the id', (capabilities, opens) => {
  const session = newSession(capabilities);
  expect([isSession(session), opensUrls(session)]).toEqual([true, opens]);
});

it('no two are the same', () => {
  expect(new Set(Array.from({ length: 1_000 }, () => newSession({}))).size).toBe(1_000);
});

it('what a client makes up is none', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (said) => !isSession(said) && !opensUrls(said)));
  const own = newSession({});
  for (const said of [
    `${own}x`,
    own.slice(0, -1),
    own.replace('ute1', 'ute2'),
    `${own}\n`,
    own.toUpperCase(),
  ])
    expect([said, isSession(said)]).toEqual([said, false]);
});

it('a level is of its session alone', () => {
  const levels = new LogLevels();
  levels.set('a', 'debug');
  expect([levels.of('a'), levels.of('b'), levels.of(undefined)]).toEqual(['debug', undefined, undefined]);
});
