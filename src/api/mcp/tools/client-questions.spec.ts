// An answer reaches the question that it names, once, and nobody can answer what was not asked.
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { ClientQuestions } from './client-questions.ts';

function setUp() {
  const said: JsonObject[] = [];
  const exchange = { notify: (message: JsonObject) => void said.push(message) } as never;
  const questions = new ClientQuestions();
  const ask = () => {
    const asked = questions.ask(exchange, { id: 'ap1', message: 'Please', url: 'https://x.example' });
    return { asked, id: said.at(-1)?.['id'] ?? null };
  };
  return { questions, ask, said };
}
const PENDING = Symbol('pending');
const now = (promise: Promise<unknown>) => Promise.race([promise, Promise.resolve(PENDING)]);

it('is asked in the stream of its request, by a URL', () => {
  const { ask, said } = setUp();
  ask().asked.complete();
  expect(said).toMatchObject([
    { method: 'elicitation/create', params: { mode: 'url', elicitationId: 'ap1', url: 'https://x.example' } },
    { method: 'notifications/elicitation/complete', params: { elicitationId: 'ap1' } },
  ]);
});

it.each([
  [{ result: { action: 'accept' } }, 'accept'],
  [{ result: { action: 'decline' } }, 'decline'],
  [{ result: {} }, 'cancel'],
  [{ error: { code: -32_601, message: 'no' } }, 'cancel'],
])('%j is taken as %s', async (answer, action) => {
  const { questions, ask } = setUp();
  const { asked, id } = ask();
  questions.answered({ jsonrpc: '2.0', id, ...answer });
  expect(await asked.action).toBe(action);
});

it('an answer to anything else answers nothing', async () => {
  const { questions, ask } = setUp();
  const { asked, id } = ask();
  for (const message of [null, [], {}, { id: 1 }, { id: 'ute-made-up', result: { action: 'accept' } }])
    questions.answered(message);
  asked.withdraw();
  questions.answered({ id, result: { action: 'accept' } });
  expect(await now(asked.action)).toBe(PENDING);
});
