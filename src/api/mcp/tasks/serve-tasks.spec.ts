// Requests about tasks: each era has its own, and the extension serves those alone who declare it.
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { AskingClient } from '../../../../test/helpers/task-kit.ts';
import type { Era } from '../protocol/exchange.ts';
import { LogLevels, newSession } from '../protocol/legacy-session.ts';
import { askerOf, serveTasks } from './serve-tasks.ts';
import type { TaskAsker } from './tasks.ts';

type Handler = (params: object, context: { readonly mcpReq: object }) => unknown;

const DECLARED = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const asked = (capabilities: object, more: object = {}) => ({
  mcpReq: { id: 1, envelope: { [CLIENT_CAPABILITIES_META_KEY]: capabilities }, ...more },
});

function served(era: Era) {
  const handlers = new Map<string, Handler>();
  const client = new AskingClient(era);
  const done: unknown[] = [];
  const note = (method: string) => async (_params: object, second: unknown, third: unknown) => {
    done.push([method, method === 'update' ? second : undefined]);
    return { by: method, third };
  };
  const tasks = { get: note('get'), cancel: note('cancel'), update: note('update'), list: note('list') };
  const results = {
    get: async (_params: object, _asker: TaskAsker, emit?: (event: object) => void) => {
      emit?.({ type: 'progress', fraction: 0.5 });
      return { told: emit !== undefined };
    },
  };
  const door = { exchangeOf: () => client.asker.exchange };
  const setRequestHandler = (method: string, _schema: object, handler: Handler) =>
    void handlers.set(method, handler);
  serveTasks({ door, setRequestHandler } as never, era, { tasks, results, levels: new LogLevels() } as never);
  const call = async (method: string, params: object, context: ReturnType<typeof asked>) =>
    handlers.get(method)?.(params, context);
  return { handlers, call, client, done };
}

it('each era has its own requests, and not the other’s', () => {
  expect([...served('modern').handlers.keys()]).toEqual(['tasks/get', 'tasks/cancel', 'tasks/update']);
  expect([...served('legacy').handlers.keys()]).toEqual([
    'tasks/get',
    'tasks/cancel',
    'tasks/list',
    'tasks/result',
  ]);
});

describe('the extension', () => {
  it.each(['tasks/get', 'tasks/cancel', 'tasks/update'])(
    'is not served to who does not declare it: %s',
    async (method) => {
      const { call, done } = served('modern');
      const update = { inputResponses: {} };
      await expect(call(method, { taskId: 'a' }, asked({}, update))).rejects.toMatchObject({ code: -32_021 });
      expect(done).toEqual([]);
      await call(method, { taskId: 'a' }, asked(DECLARED, update));
      expect(done).toHaveLength(1);
    },
  );

  it.each([undefined, 7, 'yes', []])('takes no answers that are %j', async (inputResponses) => {
    const { call, done } = served('modern');
    const asking = call('tasks/update', { taskId: 'a' }, asked(DECLARED, { inputResponses }));
    await expect(asking).rejects.toMatchObject({ code: -32_602 });
    expect(done).toEqual([]);
  });

  it('is given the answers as the client says them', async () => {
    const { call, done } = served('modern');
    const inputResponses = { 'approval-1': { action: 'decline' } };
    await call('tasks/update', { taskId: 'a' }, asked(DECLARED, { inputResponses }));
    expect(done).toEqual([['update', inputResponses]]);
  });
});

it('what is told of a task of 2025 while its result is waited for names the task', async () => {
  const { call, client } = served('legacy');
  const wanting = { taskId: 't-1', _meta: { progressToken: 'p' } };
  expect(await call('tasks/result', wanting, asked({}))).toEqual({ told: true });
  expect(client.notified).toMatchObject([
    {
      method: 'notifications/progress',
      params: { progressToken: 'p', _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't-1' } } },
    },
  ]);
});

it('nobody is told who asked for nothing', async () => {
  const { call, client } = served('legacy');
  expect(await call('tasks/result', { taskId: 't-1' }, asked({}))).toEqual({ told: false });
  expect(client.notified).toEqual([]);
});

describe('whether a client opens URLs is known', () => {
  const opens = (era: Era, more: object, capabilities: object = {}) =>
    askerOf({ asked: { era, ...more } } as never, asked(capabilities).mcpReq).opensUrls;
  const byUrl = { elicitation: { url: {} } };

  it('from the request in 2026, whatever its session says', () => {
    expect(opens('modern', { session: newSession(byUrl) })).toBe(false);
    expect(opens('modern', {}, byUrl)).toBe(true);
    expect(opens('modern', {}, { elicitation: {} })).toBe(false);
  });

  it('from the session in 2025, where there is a stream to ask in', () => {
    expect(opens('legacy', { session: newSession(byUrl), takesEvents: true })).toBe(true);
    expect(opens('legacy', { session: newSession(byUrl), takesEvents: false })).toBe(false);
    expect(opens('legacy', { session: newSession({ elicitation: {} }), takesEvents: true })).toBe(false);
    expect(opens('legacy', { session: undefined, takesEvents: true }, byUrl)).toBe(false);
  });
});
