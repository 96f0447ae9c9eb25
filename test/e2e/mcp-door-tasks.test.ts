// Long calls over MCP: tasks of both revisions of the protocol stand on the calls that run later, and are their caller's alone.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { eventually } from '../helpers/eventually.ts';
import { DoorClient, type RpcAnswer } from '../helpers/mcp-door-client.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({
    tools: ['test/fixtures/mcp-door/tasks.yaml'],
    settings: { approvals: { allow_self_approval: true, public_url: 'https://approve.example.com' } },
    more: { colleague: { tenant: 'acme', roles: ['admin'] }, lister: { tenant: 'acme', roles: ['agent'] } },
  });
  await openDatabase(gateway);
});

afterAll(() => gateway?.stop());

type Era = 'modern' | 'legacy';

interface Task {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly ttl?: number;
  readonly ttlMs?: number;
  readonly inputRequests?: Readonly<Record<string, JsonObject>>;
  readonly result?: JsonObject;
}

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const URLS = { elicitation: { url: {} } };
const RELATED = 'io.modelcontextprotocol/related-task';
const DAYS_30 = 30 * 86_400_000;

interface Wanted {
  readonly capabilities?: object;
  readonly key?: string;
  readonly query?: string;
}

async function client(era: Era, { capabilities = TASKS, key, query = '' }: Wanted = {}) {
  const options = { url: gateway.url, key: key ?? gateway.keys.agent.text, query, era, capabilities };
  const made = new DoorClient(options);
  if (era === 'legacy') await made.initialize();
  return made;
}

const call = (asker: DoorClient, name: string, args: JsonObject = {}, more: JsonObject = { task: {} }) =>
  asker.ask('tools/call', { name, arguments: args, ...more });

/** Of the answer to a call, in either era. */
function taskIn({ result, error }: RpcAnswer): Task {
  const task = (result?.['task'] ?? result) as Partial<Task> | undefined;
  if (task?.taskId === undefined) throw new Error(`no task: ${JSON.stringify(result ?? error)}`);
  return task as Task;
}

async function look(asker: DoorClient, taskId: string): Promise<Task> {
  return taskIn(await asker.ask('tasks/get', { taskId }));
}

/** A short one may be over before it is answered that there is one. */
const AT_FIRST = expect.stringMatching(/^(?:working|completed)$/) as string;
const OVER = ['completed', 'failed', 'cancelled'];
const over = (asker: DoorClient, taskId: string): Promise<Task> =>
  eventually(async () => {
    const seen = await look(asker, taskId);
    return OVER.includes(seen.status) && seen;
  });

const RESULT = {
  modern: async (asker: DoorClient, taskId: string) => (await over(asker, taskId)).result,
  legacy: async (asker: DoorClient, taskId: string) =>
    (await asker.ask('tasks/result', { taskId })).result as JsonObject | undefined,
};

async function asAdmin(path: string, body?: object): Promise<JsonObject> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.keys.admin.text}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as JsonObject;
}
const decide = (id: string, decision: 'approve' | 'reject') =>
  asAdmin(`/v1/approvals/${id}/decision`, { decision });

describe('a server', () => {
  it('says in both eras that it has tasks, and of which calls', async () => {
    const { result } = await (await client('modern')).ask('server/discover');
    expect(result?.['capabilities']).toMatchObject(TASKS);
    const legacy = new DoorClient({ url: gateway.url, key: gateway.keys.agent.text, era: 'legacy' });
    const begun = await legacy.initialize();
    const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
    expect(begun.result?.['capabilities']).toMatchObject({ tasks });
    const listed = await legacy.ask('tools/list');
    const tools = listed.result?.['tools'] as unknown as readonly JsonObject[];
    expect(tools.length).toBeGreaterThan(0);
    expect(
      tools.filter(({ execution }) => JSON.stringify(execution) !== '{"taskSupport":"optional"}'),
    ).toEqual([]);
  });
});

describe.each([
  {
    era: 'modern',
    made: { resultType: 'task', status: AT_FIRST },
    kept: { ttlMs: expect.any(Number) },
    related: {},
    failed: 'completed',
    cancelled: { resultType: 'complete' },
    again: { result: { resultType: 'complete' } },
    methods: ['tasks/get', 'tasks/cancel', 'tasks/update'],
  },
  {
    era: 'legacy',
    made: { task: { status: AT_FIRST } },
    kept: { ttl: expect.any(Number) },
    related: { [RELATED]: { taskId: expect.any(String) } },
    failed: 'failed',
    cancelled: { status: 'cancelled' },
    again: { error: { code: -32_602 } },
    methods: ['tasks/get', 'tasks/cancel', 'tasks/result'],
  },
] as const)('a task, $era,', ({ era, made, kept, related, failed, cancelled, again, methods }) => {
  it('is an accepted call, and ends in what the tool answered', async () => {
    const asker = await client(era);
    const answer = await call(asker, 'adds', { a: 1, b: 2 });
    expect(answer.result).toMatchObject(made);
    const { taskId, createdAt } = taskIn(answer);
    expect(Date.parse(createdAt)).toBeGreaterThan(Date.now() - 60_000);
    const ended = await over(asker, taskId);
    expect(ended).toMatchObject({ taskId, status: 'completed', ...kept });
    expect(ended.ttl ?? ended.ttlMs).toBeGreaterThanOrEqual(DAYS_30);
    expect(await RESULT[era](asker, taskId)).toMatchObject({
      content: [{ type: 'text', text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
      _meta: { 'io.ute/meta': { tool: 'adds', call_id: taskId }, ...related },
    });
    const byRest = await asAdmin(`/v1/calls/${taskId}`);
    expect(byRest).toMatchObject({ status: 'succeeded', result: { ok: true, data: { sum: 3 } } });
  });

  it('of a tool that fails has a result that says so', async () => {
    const asker = await client(era);
    const { taskId } = taskIn(await call(asker, 'fails'));
    expect((await over(asker, taskId)).status).toBe(failed);
    expect(await RESULT[era](asker, taskId)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^PERMANENT: The tool ended with an exception/) }],
    });
  });

  it('is cancelled by its caller, once', async () => {
    const asker = await client(era);
    const { taskId } = taskIn(await call(asker, 'lasts'));
    expect((await asker.ask('tasks/cancel', { taskId })).result).toMatchObject(cancelled);
    expect(await over(asker, taskId)).toMatchObject({ status: 'cancelled' });
    expect(await asker.ask('tasks/cancel', { taskId })).toMatchObject(again);
    const records = await asAdmin(`/v1/audit?call_id=${taskId}&kind=management`);
    expect(JSON.stringify(records)).toContain('calls.cancel');
  });

  it('of somebody else is not there: another tenant, another credential, another user of the same', async () => {
    const asker = await client(era, { query: '?user_id=alice' });
    const { taskId } = taskIn(await call(asker, 'lasts'));
    const strangers = [
      await client(era, { key: gateway.keys.other.text }),
      await client(era, { key: gateway.key('colleague').key }),
      await client(era, { query: '?user_id=bob' }),
      await client(era, { query: '?agent_id=another' }),
    ];
    for (const stranger of strangers)
      for (const method of methods) {
        const { error } = await stranger.ask(method, { taskId, inputResponses: {} });
        expect([method, error?.code]).toEqual([method, -32_602]);
      }
    expect(await look(asker, taskId)).toMatchObject({ status: 'working' });
    await asker.ask('tasks/cancel', { taskId });
  });

  it('of an id that nobody was given is not there', async () => {
    const asker = await client(era);
    const ids = [
      '../x',
      '00000000-0000-7000-8000-000000000000',
      "' OR 1=1 --",
      '0'.repeat(5_000),
      'ü',
      null,
      7,
    ];
    for (const taskId of ids) {
      const { error } = await asker.ask('tasks/get', { taskId });
      expect([taskId, error?.code]).toEqual([taskId, -32_602]);
    }
  });

  it('is made once for an idempotency key', async () => {
    const asker = await client(era);
    const meta = { task: {}, _meta: { 'io.ute/idempotencyKey': `once-${era}` } };
    const first = taskIn(await call(asker, 'adds', { a: 2, b: 2 }, meta));
    expect(taskIn(await call(asker, 'adds', { a: 2, b: 2 }, meta)).taskId).toBe(first.taskId);
  });
});

describe('tasks of 2025-11-25', () => {
  it('are made where a call asks for one, and nowhere else', async () => {
    const asker = await client('legacy');
    expect((await call(asker, 'quick', {}, {})).result).toMatchObject({ content: [{ text: 'done' }] });
    taskIn(await call(asker, 'quick', {}, { task: { ttl: 60_000 } }));
    for (const wrong of [null, 'x', { ttl: 'long' }, { ttl: -1 }])
      expect((await call(asker, 'quick', {}, { task: wrong })).result).toMatchObject({
        isError: true,
        _meta: { 'io.ute/error': { type: 'VALIDATION' } },
      });
  });

  it('are refused by an error of the protocol, which is all that a client that wants one takes', async () => {
    const asker = await client('legacy');
    const invalid = await call(asker, 'adds', { a: 1 });
    expect(invalid.error).toMatchObject({ code: -32_602, data: { type: 'VALIDATION' } });
    const unknown = await call(asker, 'nowhere');
    expect(unknown.error).toMatchObject({ code: -32_602, data: { type: 'NOT_FOUND' } });
  });

  it('are listed for their caller, newest first, page by page', async () => {
    const { key } = gateway.key('lister');
    const asker = await client('legacy', { key, query: '?session_id=listed' });
    const made: string[] = [];
    for (let each = 0; each < 102; each += 1) made.push(taskIn(await call(asker, 'quick')).taskId);
    interface Page {
      readonly tasks: readonly Task[];
      readonly nextCursor?: string;
    }
    const page = async (from: DoorClient, params: JsonObject = {}) =>
      (await from.ask('tasks/list', params)).result as unknown as Page;
    const first = await page(asker);
    const second = await page(asker, { cursor: first.nextCursor ?? '' });
    expect([first.tasks.length, second.tasks.length, second.nextCursor]).toEqual([100, 2, undefined]);
    expect([...first.tasks, ...second.tasks].map(({ taskId }) => taskId)).toEqual(made.toReversed());
    const elsewhere = await client('legacy', { key, query: '?session_id=other' });
    expect((await page(elsewhere)).tasks).toEqual([]);
    expect((await asker.ask('tasks/list', { cursor: 'x' })).error).toMatchObject({ code: -32_602 });
  });

  it('give their result once they have ended, and tell until then what they say', async () => {
    const asker = await client('legacy');
    const { taskId } = taskIn(await call(asker, 'lasts'));
    const heard: JsonObject[] = [];
    const params = { taskId, _meta: { progressToken: 'p' } };
    const waiting = asker.ask('tasks/result', params, (message) => void heard.push(message));
    const progress = await eventually(
      () => heard.find(({ method }) => method === 'notifications/progress') ?? false,
    );
    expect(progress['params']).toMatchObject({ progressToken: 'p', _meta: { [RELATED]: { taskId } } });
    await asker.ask('tasks/cancel', { taskId });
    expect((await waiting).result).toMatchObject({ isError: true, _meta: { [RELATED]: { taskId } } });
    const told = heard.filter(({ method }) => method === 'notifications/tasks/status');
    expect(told.map(({ params: said }) => (said as JsonObject)['status'])).toEqual(['working', 'cancelled']);
  });

  it('that wait for an approval ask for it in the stream of their result, and run once it is given', async () => {
    const asker = await client('legacy', { capabilities: { ...TASKS, ...URLS } });
    const { taskId, status } = taskIn(await call(asker, 'erases', { what: 'a' }));
    expect(status).toBe('working');
    expect(await look(asker, taskId)).toMatchObject({ status: 'input_required' });
    const questions: JsonObject[] = [];
    const waiting = asker.ask('tasks/result', { taskId }, (message) => {
      if (message['method'] === 'elicitation/create') questions.push(message);
    });
    const { id = null, params } = await eventually(() => questions[0] ?? false);
    const { url, _meta: meta } = params as { url: string; _meta: JsonObject };
    expect(meta).toEqual({ [RELATED]: { taskId } });
    await asker.post({ jsonrpc: '2.0', id, result: { action: 'accept' } });
    await eventually(async () => (await look(asker, taskId)).status === 'working');
    await decide(url.slice(url.lastIndexOf('/') + 1), 'approve');
    const { result, before } = await waiting;
    expect(result).toMatchObject({ structuredContent: { erased: 'a' } });
    expect(before.map(({ method }) => method)).toContain('notifications/elicitation/complete');
  });

  it('of a client that shows nobody anything work, and say where the approval is', async () => {
    const asker = await client('legacy');
    const { taskId } = taskIn(await call(asker, 'erases', { what: 'b' }));
    expect(await look(asker, taskId)).toMatchObject({
      status: 'working',
      statusMessage: expect.stringContaining('https://approve.example.com/v1/approvals/'),
    });
    await asker.ask('tasks/cancel', { taskId });
  });

  it('run on when a client that waits for their result goes away', async () => {
    const asker = await client('legacy');
    const { taskId } = taskIn(await call(asker, 'lasts'));
    const gone = new AbortController();
    const waiting = asker.ask('tasks/result', { taskId }, () => gone.abort(), gone.signal);
    await expect(waiting).rejects.toThrow('abort');
    expect(await look(asker, taskId)).toMatchObject({ status: 'working' });
    await asker.ask('tasks/cancel', { taskId });
  });
});

describe('a crowd that waits for results', () => {
  it('is told them, or that too many follow calls: nobody is told that the database is away', async () => {
    const asker = await client('legacy');
    const { taskId } = taskIn(await call(asker, 'lasts'));
    const asked: Promise<RpcAnswer>[] = [];
    // So many connections at once are too many for a busy machine, which has ten seconds to read the head of each.
    for (let wave = 0; wave < 24; wave += 1) {
      asked.push(...Array.from({ length: 50 }, () => asker.ask('tasks/result', { taskId })));
      await asker.ask('tasks/get', { taskId });
    }
    await asker.ask('tasks/cancel', { taskId });
    const answers = await Promise.all(asked);
    const told = answers.filter(({ result }) => result !== undefined);
    expect(told.length).toBeGreaterThanOrEqual(900);
    const refusals = answers.flatMap(({ error }) => (error === undefined ? [] : [error]));
    const reasons = new Set(refusals.map(({ data }) => (data as JsonObject)['reason']));
    expect([...reasons].filter((reason) => reason !== 'TOO_MANY_FOLLOWERS')).toEqual([]);
  });
});

describe('tasks of 2026-07-28', () => {
  it('are made for clients that take them alone, and of long calls alone', async () => {
    const plain = await client('modern', { capabilities: {} });
    expect((await call(plain, 'adds', { a: 1, b: 1 })).result).toMatchObject({ resultType: 'complete' });
    const taking = await client('modern');
    expect((await call(taking, 'quick')).result).toMatchObject({ resultType: 'complete' });
    const refused = { resultType: 'complete', isError: true };
    expect((await call(taking, 'adds', { a: 1 })).result).toMatchObject(refused);
  });

  it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])('%s asks for the capability', async (method) => {
    const plain = await client('modern', { capabilities: {} });
    const { status, error } = await plain.ask(method, { taskId: 'x', inputResponses: {} });
    expect([status, error?.code]).toEqual([400, -32_021]);
    expect(error?.data).toEqual({ requiredCapabilities: TASKS });
  });

  it.each(['tasks/list', 'tasks/result'])('%s is no method of it', async (method) => {
    const { error } = await (await client('modern')).ask(method, { taskId: 'x' });
    expect(error?.code).toBe(-32_601);
  });

  it('a subscription to tasks asks for the capability', async () => {
    const plain = await client('modern', { capabilities: {} });
    const { error } = await plain.ask('subscriptions/listen', { notifications: { taskIds: ['x'] } });
    expect(error?.code).toBe(-32_021);
  });

  it('hold a call until it is approved, for a client that cannot be asked', async () => {
    const asker = await client('modern');
    const made = taskIn(await call(asker, 'erases', { what: 'c' }));
    const { statusMessage = '' } = await look(asker, made.taskId);
    const [, id = ''] = /approvals\/([0-9a-f-]{36})/.exec(statusMessage) ?? [];
    await decide(id, 'approve');
    expect(await over(asker, made.taskId)).toMatchObject({
      status: 'completed',
      result: { structuredContent: { erased: 'c' } },
    });
  });

  /** A task that waits, as a client sees it that can show its user the approval, and the key of the question. */
  async function waitingTask(what: string) {
    const { taskId } = taskIn(await call(await client('modern'), 'erases', { what }));
    const asker = await client('modern', { capabilities: { ...TASKS, ...URLS } });
    const { status, inputRequests = {} } = await look(asker, taskId);
    const [key = ''] = Object.keys(inputRequests);
    const say = (action: string, on = key) =>
      asker.ask('tasks/update', { taskId, inputResponses: { [on]: { action } } });
    return { asker, taskId, status, request: inputRequests[key], key, say };
  }

  it('that wait for an approval require input, until their client has shown it', async () => {
    const { asker, taskId, status, request, key, say } = await waitingTask('d');
    expect(status).toBe('input_required');
    expect(request).toMatchObject({ method: 'elicitation/create', params: { mode: 'url' } });
    await say('decline', `${key}x`);
    expect(await look(asker, taskId)).toMatchObject({ status: 'input_required' });
    await say('accept');
    expect(await look(asker, taskId)).toMatchObject({ status: 'working' });
    await say('decline');
    expect(await look(asker, taskId)).toMatchObject({ status: 'working' });
    await decide(key.slice('approval-'.length), 'reject');
    const rejected = { status: 'completed', result: { isError: true } };
    expect(await over(asker, taskId)).toMatchObject(rejected);
  });

  it('whose client declines are cancelled, and their approval with them', async () => {
    const { asker, taskId, key, say } = await waitingTask('e');
    expect((await say('decline')).result).toMatchObject({ resultType: 'complete' });
    expect(await look(asker, taskId)).toMatchObject({ status: 'cancelled' });
    const approval = await asAdmin(`/v1/approvals/${key.slice('approval-'.length)}`);
    expect(approval).toMatchObject({ status: 'cancelled' });
  });

  it('end once, however a cancellation and the end of their call race', async () => {
    const asker = await client('modern');
    const begin = async (a: number) => taskIn(await call(asker, 'adds', { a, b: 0 })).taskId;
    const made = await Promise.all(Array.from({ length: 50 }, (_, a) => begin(a)));
    const answers = await Promise.all(made.map((taskId) => asker.ask('tasks/cancel', { taskId })));
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
    for (const taskId of made)
      expect(['completed', 'cancelled']).toContain((await over(asker, taskId)).status);
  });
});
