// What is asked in one turn is asked together, and each question gets its own answer.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { AdmitQuestion } from './admit-question.ts';
import { GatheredQuestions, MOST_TOGETHER, type Together } from './gathered-questions.ts';

type Sent = readonly [epoch: string, together: Together];

/** `answer`: what Redis says. */
function opened(answer: (together: Together) => unknown) {
  const sent: Sent[] = [];
  const questions = new GatheredQuestions(
    (...about) => {
      sent.push(about);
      return Promise.resolve().then(() => answer(about[1]));
    },
    (task) => void setImmediate(task),
  );
  const ask = (callId: string, epoch = 'e') => {
    const request = { callId, fairnessKey: '', rates: [], leases: [] };
    const question: AdmitQuestion = { request, epoch, mayWait: false, othersWaiting: () => 0 };
    return questions.ask(question, { keys: [`call:${callId}`], args: [callId, 7] });
  };
  return { sent, ask };
}

const granted = (left: number) => ['granted', '', left, [], []];
/** Tells them apart by what is left. */
const inOrder = ({ count }: Together) => Array.from({ length: count }, (_, index) => granted(index));

it('what is asked in one turn is one question to Redis, and each call gets its own answer', async () => {
  const { sent, ask } = opened(inOrder);
  const answers = await Promise.all([ask('one'), ask('two')]);
  expect(sent).toEqual([['e', { keys: ['call:one', 'call:two'], args: ['one', 7, 'two', 7], count: 2 }]]);
  expect(answers).toMatchObject([{ left: 0 }, { left: 1 }]);
  await ask('three');
  expect(sent.length).toBe(2);
});

it('no question to Redis is about more calls than it may take the time for', async () => {
  const { sent, ask } = opened(inOrder);
  const count = 2 * MOST_TOGETHER + 1;
  await Promise.all(Array.from({ length: count }, (_, index) => ask(`call ${index}`)));
  expect(sent.map(([, together]) => together.count)).toEqual([MOST_TOGETHER, MOST_TOGETHER, 1]);
});

it('questions to the store as it was, and as it is since, are asked apart', async () => {
  const { sent, ask } = opened(inOrder);
  await Promise.all([ask('one', 'old'), ask('two', 'new'), ask('three', 'new')]);
  expect(sent.map(([epoch, { count }]) => [epoch, count])).toEqual([
    ['old', 1],
    ['new', 2],
  ]);
});

it('a store that is another one says so to all of them', async () => {
  const { ask } = opened(() => ['epoch']);
  expect(await Promise.all([ask('one'), ask('two')])).toEqual([
    { kind: 'other_epoch' },
    { kind: 'other_epoch' },
  ]);
});

it('a failure fails those that were asked about, and no others', async () => {
  let calls = 0;
  const { ask } = opened((together) => {
    calls += 1;
    if (calls === 1) throw new Error('Command timed out');
    return inOrder(together);
  });
  const lost = await Promise.allSettled([ask('one'), ask('two')]);
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask('three')).toMatchObject({ kind: 'granted' });
});

it('an answer that is missing is no grant', async () => {
  const { ask } = opened(() => [granted(3)]);
  const [first, second] = await Promise.allSettled([ask('one'), ask('two')]);
  await turn();
  expect(first).toMatchObject({ status: 'fulfilled', value: { left: 3 } });
  expect(second).toMatchObject({ status: 'rejected' });
});

it('a call about which the script failed fails alone', async () => {
  const { ask } = opened(() => [granted(3), ['failed', 'WRONGTYPE of a key'], granted(2)]);
  const [first, second, third] = await Promise.allSettled([ask('one'), ask('two'), ask('three')]);
  expect(first).toMatchObject({ status: 'fulfilled', value: { left: 3 } });
  expect(second).toMatchObject({ status: 'rejected', reason: { message: 'WRONGTYPE of a key' } });
  expect(third).toMatchObject({ status: 'fulfilled', value: { left: 2 } });
});
