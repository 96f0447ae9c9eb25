// Tasks of 2026-07-28 by subscriptions/listen: a client is told what becomes of its own tasks, and of nobody else's.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { eventually } from '../helpers/eventually.ts';
import { DoorClient } from '../helpers/mcp-door-client.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const URLS = { elicitation: { url: {} } };

beforeAll(async () => {
  gateway = await startGateway({
    tools: ['test/fixtures/mcp-door/tasks.yaml'],
    settings: { approvals: { allow_self_approval: true } },
    more: { colleague: { tenant: 'acme', roles: ['admin'] } },
  });
  await openDatabase(gateway);
});

afterAll(() => gateway?.stop());

const agent = (more: { key?: string; query?: string; capabilities?: object } = {}) =>
  new DoorClient({
    url: gateway.url,
    key: gateway.keys.agent.text,
    era: 'modern',
    capabilities: TASKS,
    ...more,
  });

async function taskOf(name: string, args: JsonObject = {}, _meta: JsonObject = {}): Promise<string> {
  const { result } = await agent().ask('tools/call', { name, arguments: args, _meta });
  return String(result?.['taskId']);
}

/** Each message as it came, and how it ended. */
function listen(asker: DoorClient, notifications: JsonObject, signal?: AbortSignal) {
  const told: JsonObject[] = [];
  const over = asker.ask('subscriptions/listen', { notifications }, (message) => told.push(message), signal);
  const acknowledged = () =>
    eventually(() => {
      const [first] = told;
      if (first === undefined) return false;
      expect(first['method']).toBe('notifications/subscriptions/acknowledged');
      return first['params'] as JsonObject;
    });
  const states = () =>
    told.flatMap(({ method, params }) => (method === 'notifications/tasks' ? [params as JsonObject] : []));
  return { told, over, acknowledged, states };
}

describe('a client that listens for its tasks', () => {
  it('has the agreed ids first, then each change as tasks/get tells it, and the end after the last', async () => {
    const taskId = await taskOf('lasts');
    const { over, acknowledged, states } = listen(agent(), { taskIds: [taskId] });
    expect(await acknowledged()).toMatchObject({ notifications: { taskIds: [taskId] } });
    await eventually(() => states().some(({ status }) => status === 'working'));
    await agent().ask('tasks/cancel', { taskId });
    const { result, before } = await over;
    expect(result).toMatchObject({ resultType: 'complete' });
    const { _meta, ...last } = states().at(-1) ?? {};
    const id = 'io.modelcontextprotocol/subscriptionId';
    expect(_meta).toEqual({ [id]: expect.any(Number) });
    const { result: looked } = await agent().ask('tasks/get', { taskId });
    expect(looked).toMatchObject({ ...last, resultType: 'complete' });
    expect(last).toMatchObject({ taskId, status: 'cancelled' });
    // The tool reports progress: that is not for this stream.
    expect(new Set(before.map(({ method }) => method))).toEqual(
      new Set(['notifications/subscriptions/acknowledged', 'notifications/tasks']),
    );
  });

  it('is told at once of one that is over, with its result', async () => {
    const taskId = await taskOf('adds', { a: 2, b: 3 });
    await eventually(
      async () => (await agent().ask('tasks/get', { taskId })).result?.['status'] === 'completed',
    );
    const { over, states } = listen(agent(), { taskIds: [taskId] });
    await over;
    expect(states()).toMatchObject([
      { taskId, status: 'completed', result: { structuredContent: { sum: 5 }, resultType: 'complete' } },
    ]);
  });

  it('is told of the approval that it is to show, of its decision, and of the result', async () => {
    const taskId = await taskOf('erases', { what: 'a' });
    const asker = agent({ capabilities: { ...TASKS, ...URLS } });
    const { over, states } = listen(asker, { taskIds: [taskId] });
    const asked = await eventually(() => states().find(({ status }) => status === 'input_required') ?? false);
    const requests = asked['inputRequests'] as Record<string, { params: { url: string } }>;
    const [key = '', { params } = { params: { url: '' } }] = Object.entries(requests)[0] ?? [];
    await asker.ask('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept' } } });
    await eventually(() => states().at(-1)?.['status'] === 'working');
    await fetch(`${gateway.url}/v1/approvals/${params.url.slice(params.url.lastIndexOf('/') + 1)}/decision`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.keys.admin.text}` },
      body: '{"decision":"approve"}',
    });
    await over;
    expect(states().at(-1)).toMatchObject({
      status: 'completed',
      result: { structuredContent: { erased: 'a' } },
    });
  });

  it('of others is told nothing: not that they exist, whatever else it may read', async () => {
    const taskId = await taskOf('lasts');
    const strangers = [
      agent({ key: gateway.keys.other.text }),
      agent({ key: gateway.key('colleague').key }),
      agent({ query: '?user_id=somebody' }),
    ];
    for (const stranger of strangers) {
      const asked = [taskId, 'no-task', '0199aaaa-0000-7000-8000-00000000000a'];
      const { over, told } = listen(stranger, { taskIds: asked });
      const ended = await over;
      expect(ended).toMatchObject({ result: { resultType: 'complete' } });
      expect(told).toMatchObject([{ params: { notifications: {} } }]);
      expect(JSON.stringify(told)).not.toContain(taskId);
    }
    await agent().ask('tasks/cancel', { taskId });
  });

  it.each([
    ['no filter', {}],
    ['ids that are none', { notifications: { taskIds: [1] } }],
    ['too many', { notifications: { taskIds: Array.from({ length: 101 }, (_, at) => `t${at}`) } }],
  ])('%s is refused by name', async (_what, params) => {
    const { error } = await agent().ask('subscriptions/listen', params);
    expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('params.notifications') });
  });

  it('holds its slots no longer than it is there', async () => {
    const taskId = await taskOf('lasts');
    const tasks = [taskId, ...(await Promise.all(Array.from({ length: 9 }, () => taskOf('lasts'))))];
    for (let round = 0; round < 3; round += 1) {
      const gone = new AbortController();
      const all = Array.from({ length: 20 }, () => listen(agent(), { taskIds: tasks }, gone.signal));
      for (const { acknowledged } of all)
        expect(await acknowledged()).toMatchObject({ notifications: { taskIds: tasks } });
      // So many are one caller's.
      const { over, told } = listen(agent(), { taskIds: tasks });
      await over;
      expect(told).toMatchObject([{ params: { notifications: {} } }]);
      gone.abort();
      await Promise.allSettled(all.map(({ over: each }) => each));
      await eventually(async () => {
        const own = new AbortController();
        const again = listen(agent(), { taskIds: tasks }, own.signal);
        const { notifications } = (await again.acknowledged()) as { notifications: JsonObject };
        own.abort();
        await again.over.catch(() => undefined);
        return (notifications['taskIds'] as string[] | undefined)?.length === tasks.length;
      });
    }
    for (const each of tasks) await agent().ask('tasks/cancel', { taskId: each });
  });
});

it('the official client hears what becomes of its task', async () => {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: 'auto' }, capabilities: TASKS },
  );
  const requestInit = { headers: { authorization: `Bearer ${gateway.keys.agent.text}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', gateway.url), { requestInit }));
  const told: JsonObject[] = [];
  client.fallbackNotificationHandler = async ({ method, params }) =>
    void told.push({ method, ...(params as JsonObject) });
  const taskId = await taskOf('lasts');
  // Of the extension's field its types know nothing yet; it goes out all the same.
  const filter = { toolsListChanged: true, taskIds: [taskId] };
  const listening = await client.listen(filter);
  expect(listening.honoredFilter).toMatchObject({ toolsListChanged: true });
  await eventually(() => told.some(({ status }) => status === 'working'));
  await agent().ask('tasks/cancel', { taskId });
  const last = await eventually(() => told.find(({ status }) => status === 'cancelled') ?? false);
  expect(last).toMatchObject({ method: 'notifications/tasks', taskId });
  await listening.close();
  await client.close();
});
