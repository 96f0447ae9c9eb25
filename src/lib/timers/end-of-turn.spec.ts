import { setImmediate as yieldToLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { afterAnswers, answerAtEndOfTurn } from './end-of-turn.ts';

describe('the end of a turn', () => {
  it('lets answers leave before what nobody waits for, whichever was asked for first', async () => {
    const ran: string[] = [];
    afterAnswers(() => ran.push('record'));
    answerAtEndOfTurn(() => ran.push('first answer'));
    afterAnswers(() => ran.push('log line'));
    answerAtEndOfTurn(() => ran.push('second answer'));
    await yieldToLoop();
    expect(ran).toEqual(['first answer', 'second answer', 'record', 'log line']);
  });

  it('leaves what is asked for meanwhile to the next turn', async () => {
    const ran: string[] = [];
    answerAtEndOfTurn(() => answerAtEndOfTurn(() => ran.push('late')));
    afterAnswers(() => ran.push('record'));
    await yieldToLoop();
    expect(ran).toEqual(['record']);
    await yieldToLoop();
    expect(ran).toEqual(['record', 'late']);
  });

  it('does all the others where one fails, and hides no failure', async () => {
    const ran: string[] = [];
    const failures: unknown[] = [];
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => failures.push(error));
    const failure = new Error('made to fail');
    answerAtEndOfTurn(() => {
      throw failure;
    });
    answerAtEndOfTurn(() => ran.push('answer'));
    afterAnswers(() => ran.push('record'));
    await yieldToLoop();
    await yieldToLoop();
    for (const listener of others) process.on('uncaughtException', listener);
    expect(ran).toEqual(['answer', 'record']);
    expect(failures).toEqual([failure]);
  });
});
