// What a client wants to be told of: read, or refused by a sentence that names the field.
import * as fc from 'fast-check';
import { ProtocolError } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { listenFilterOf, MOST_TASKS } from './listen-filter.ts';

const read = (notifications: unknown) => listenFilterOf({ notifications } as JsonObject);
const many = Array.from({ length: MOST_TASKS + 1 }, (_, at) => `task-${at}`);

function outcomeOf(make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    return error;
  }
}

it('names each task once, and nothing where it asks for nothing', () => {
  expect(read({ taskIds: ['a', 'b', 'a'] })).toEqual({ toolsListChanged: false, taskIds: ['a', 'b'] });
  expect(read({ toolsListChanged: true, promptsListChanged: true })).toEqual({
    toolsListChanged: true,
    taskIds: undefined,
  });
});

it.each([
  ['no filter', undefined, 'params.notifications must be an object'],
  ['a list', [], 'params.notifications must be an object'],
  ['a word for yes', { toolsListChanged: 'yes' }, 'params.notifications.toolsListChanged must be'],
  ['one id', { taskIds: 'a' }, 'params.notifications.taskIds must be a list'],
  ['an id that is a number', { taskIds: ['a', 1] }, 'params.notifications.taskIds must be a list'],
  ['too many ids', { taskIds: many }, `at most, found ${MOST_TASKS + 1}`],
])('%s is refused by name', (_what, notifications, sentence) => {
  expect(() => read(notifications)).toThrow(expect.objectContaining({ code: -32_602 }));
  expect(() => read(notifications)).toThrow(sentence);
});

it('whatever JSON it is, it is read or refused, and never more tasks than a stream may have', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.string(), { maxLength: 150 }), (any, taskIds) => {
      for (const notifications of [any, { taskIds: any }, { taskIds }]) {
        const answer = outcomeOf(() => read(notifications).taskIds?.length ?? 0);
        expect(answer instanceof ProtocolError || Number(answer) <= MOST_TASKS).toBe(true);
      }
    }),
  );
});
