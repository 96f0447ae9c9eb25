// TaskWatch: a client hears of its own tasks alone, each as text that may be pasted into a notification.
import { expect, it } from 'vitest';
import { storedCall } from '../../../../test/helpers/async-kit.ts';
import { principalOf } from '../../../../test/helpers/call-kit.ts';
import { AskingClient } from '../../../../test/helpers/task-kit.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { TaskWatch, type TaskWatchDeps } from './task-watch.ts';

const never = new AbortController().signal;

function watchOver(own: TaskWatchDeps['tasks']['own'], detailed: object = { fields: { taskId: 'a' } }) {
  const watched: (readonly string[])[] = [];
  const watch = new TaskWatch({
    tasks: { own, detailed: async () => detailed as never },
    calls: {
      watch: (_principal, ids) => {
        watched.push(ids);
        return {
          ids: ids.slice(0, 2),
          changes: (async function* changes() {
            yield storedCall();
          })(),
        };
      },
    },
  });
  return {
    watched,
    open: (...ids: string[]) => watch.open(ids, {}, new AskingClient('modern').asker, never),
  };
}

it('ids of others and of none are left out without a word, and the rest is agreed to as far as there is room', async () => {
  const { watched, open } = watchOver(async (principal, id) => {
    expect(principal).toEqual(principalOf());
    if (id.startsWith('mine')) return storedCall();
    throw new ToolFailure('NOT_FOUND', 'There is no such task.');
  });
  const { agreed } = await open('mine-1', 'other', 'mine-2', '__proto__', 'mine-3');
  expect(watched).toEqual([['mine-1', 'mine-2', 'mine-3']]);
  expect(agreed).toEqual(['mine-1', 'mine-2']);
});

it('a database that is away is no answer that there is no such task', async () => {
  const away = new ToolFailure('UNAVAILABLE', 'The database is away.');
  const { watched, open } = watchOver(async () => {
    throw away;
  });
  await expect(open('mine')).rejects.toBe(away);
  expect(watched).toEqual([]);
});

it.each([
  [{ fields: { taskId: 'a', status: 'working' } }, { taskId: 'a', status: 'working' }],
  [
    { fields: { taskId: 'a', ttl: null }, pasted: '"result":{"n":1.0}' },
    { taskId: 'a', ttl: null, result: { n: 1 } },
  ],
])('%j is told as the fields of an object', async (detailed, told) => {
  const { changes } = await watchOver(async () => storedCall(), detailed).open('mine');
  const texts: string[] = [];
  for await (const text of changes) texts.push(text);
  expect(texts.map((text) => JSON.parse(`{${text}}`) as unknown)).toEqual([told]);
});
