// The pack `tasks`, by row D5 of its seed: what the seed's user asks for is scheduled, and happens when it is due.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { targetOf, request, type RestTarget } from '../helpers/rest-client.ts';
import { TasksGateway } from '../helpers/tasks-gateway.ts';

let tasks: TasksGateway;
let ann: RestTarget;
let any: RestTarget;

beforeAll(async () => {
  tasks = await TasksGateway.start();
  ann = tasks.gateway.key('ann');
  any = tasks.gateway.key('any');
});
afterAll(() => tasks?.stop());

const DESK = { agent_id: 'desk' };

interface Made {
  readonly task_id: string;
  readonly reminder_id?: string;
  readonly trigger_at: string;
  readonly [field: string]: unknown;
}

async function made(tool: string, args: object, who = ann): Promise<Made> {
  const answer = await tasks.call(who, tool, args, DESK);
  expect(answer).toMatchObject({ ok: true, data: { success: true } });
  return answer.data as Made;
}

interface Listed {
  readonly tasks: readonly Record<string, unknown>[];
  readonly next_before: string | null;
}

const listed = async (who = ann, args = {}) =>
  (await tasks.call(who, 'list_tasks', args, DESK)).data as Listed;
const resultsOf = async (id: string) =>
  ((await tasks.call(ann, 'get_task_results', { task_id: id }, DESK)).data as { results: object[] }).results;

describe('D5: add_reminder', () => {
  it('"Remind me in 5 minutes to call mom": says its id and when it comes', async () => {
    const before = Date.now();
    const { reminder_id: id, trigger_at: at } = await made('add_reminder', {
      delay: '5m',
      message: 'call mom',
    });
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(Date.parse(at) - before).toBeGreaterThan(290_000);
    expect(Date.parse(at) - before).toBeLessThan(360_000);
  });

  it.each([
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['30s', 30_000],
    ['in 10 minutes', 600_000],
  ])('takes %s', async (delay, ms) => {
    const { trigger_at: at, created_at: from } = await made('add_reminder', { delay, message: 'x' });
    expect(Math.abs(Date.parse(at) - Date.parse(String(from)) - ms)).toBeLessThan(5_000);
  });

  it('is said when it is due: to the webhook, as an intent, and in its results; marked as somebody’s words', async () => {
    const { task_id: id } = await made('add_reminder', { delay: '1s', message: 'check the oven' });
    const { data } = await tasks.toldOf(id);
    expect(data).toMatchObject({
      schedule_id: id,
      status: 'succeeded',
      result: {
        ok: true,
        data: { task_type: 'reminder', message: 'check the oven' },
        intents: [{ type: 'REMINDER', message: 'check the oven' }],
        meta: { untrusted: true },
      },
    });
    expect(await resultsOf(id)).toMatchObject([
      { status: 'succeeded', result: { message: 'check the oven' } },
    ]);
    expect((await listed()).tasks.map((task) => task['id'])).not.toContain(id);
  });

  it('is sent by mail, too, to whom it says', async () => {
    const email = 'ann@example.com';
    const { task_id: id } = await made('add_reminder', { delay: '1s', message: 'pay the rent', email });
    expect((await tasks.toldOf(id)).data.result).toMatchObject({ ok: true, data: { told_by_mail: true } });
    expect(tasks.asked).toContainEqual({
      tool: 'send_email',
      args: { to: email, subject: 'Reminder: pay the rent', body: 'pay the rent' },
      user: 'ann',
    });
  });

  it('is one time, and says so to whoever wants more', async () => {
    const answer = await tasks.call(ann, 'add_reminder', { delay: 'daily 9am', message: 'x' }, DESK);
    expect(answer).toMatchObject({
      ok: false,
      error: {
        type: 'VALIDATION',
        origin: 'tool',
        partial_side_effects: false,
        message: '/delay comes again and again: say one time.',
        details: { violations: [{ pointer: '/delay' }] },
      },
    });
  });
});

describe('D5: add_recurring_task', () => {
  it('"Search web for top US news every weekday at 9am": searches when it is due, and tells what it found', async () => {
    const { task_id: id, ...task } = await made('add_recurring_task', {
      schedule: 'weekdays 9am',
      task_type: 'web_search',
      description: 'Search top US news and summarize top 3',
      execution_data: { query: 'US top news', limit: 3, summarize: true },
    });
    expect(task).toMatchObject({
      task_type: 'web_search',
      schedule_type: 'recurring',
      schedule_data: { cron: '0 9 * * 1-5' },
      execution_data: { query: 'US top news', limit: 3 },
    });
    await tasks.due(id);
    expect((await tasks.toldOf(id)).data.result).toMatchObject({
      ok: true,
      data: { asked: { query: 'US top news', limit: 3 } },
    });
    const again = (await listed()).tasks.find((one) => one['id'] === id);
    expect(again).toMatchObject({ enabled: true, runs: 1, last_status: 'succeeded' });
    expect(Date.parse(String(again?.['next_run']))).toBeGreaterThan(Date.now());
  });

  it('"Turn off the lights at 1am daily": asks for approval where the call needs it, once for all its runs', async () => {
    const asked = {
      schedule: 'daily 1am',
      task_type: 'api_call',
      description: 'Turn off home lights',
      execution_data: { url: 'http://home.lan/lights/off', method: 'POST' },
    };
    const first = await tasks.call(ann, 'add_recurring_task', asked, DESK);
    const { error } = first as unknown as { error: { details: Record<string, string> } };
    expect(first).toMatchObject({ ok: false, error: { type: 'CONFIRMATION_REQUIRED' } });
    const { approval_id: approval = '', confirmation_token: token } = error.details;
    const admin = targetOf(tasks.gateway);
    expect((await request(admin, 'GET', `/v1/approvals/${approval}`)).body).toMatchObject({
      tool: 'api_call',
      arguments: { arguments: asked.execution_data, schedule: { schedule: 'daily 1am' } },
    });
    await tasks.approve(admin, approval);
    const answer = await tasks.call(ann, 'add_recurring_task', asked, { ...DESK, confirmation_token: token });
    const { task_id: id } = answer.data as Made;
    await tasks.due(id);
    expect((await tasks.toldOf(id)).data.result).toMatchObject({
      ok: true,
      data: { asked: { url: 'http://home.lan/lights/off', method: 'POST' } },
    });
  });

  it('an agent_task asks whoever runs agents to do it', async () => {
    const prompt = 'Search top 3 US news and summarize';
    const { task_id: id } = await made('add_recurring_task', {
      schedule: 'monday 10am',
      task_type: 'agent_task',
      description: 'News on Mondays',
      execution_data: { prompt },
    });
    await tasks.due(id);
    expect((await tasks.toldOf(id)).data.result).toMatchObject({
      data: { prompt },
      intents: [{ type: 'AGENT_TASK', description: 'News on Mondays', prompt }],
    });
  });

  it.each([
    ['daily 9am', '0 9 * * *'],
    ['every day at 9am', '0 9 * * *'],
    ['weekdays 6pm', '0 18 * * 1-5'],
    ['monday 10am', '0 10 * * 1'],
    ['*/15 * * * *', '*/15 * * * *'],
  ])('takes "%s"', async (schedule, cron) => {
    const said = { schedule, task_type: 'reminder', description: 'Water the plants' };
    expect(await made('add_recurring_task', said)).toMatchObject({ schedule_data: { cron } });
  });

  it('keeps the hour of its time zone', async () => {
    const said = { schedule: 'daily 9am', task_type: 'reminder', description: 'x' };
    const task = await made('add_recurring_task', { ...said, time_zone: 'Asia/Kolkata' });
    expect(task.trigger_at).toMatch(/T03:30:00\.000Z$/);
  });
});

describe('D5: list_tasks, cancel_task, and D10: moving them', () => {
  it('lists the columns of the seed’s table, page by page', async () => {
    for (let n = 0; n < 3; n += 1) await made('add_reminder', { delay: '1h', message: `no ${n}` }, any);
    const first = await listed(any, { limit: 2 });
    expect(first.tasks.map((task) => task['description'])).toEqual(['no 2', 'no 1']);
    expect(Object.keys(first.tasks[0] ?? {})).toEqual(
      expect.arrayContaining(
        'id task_type description schedule_type schedule_data execution_data enabled created_at last_run next_run'.split(
          ' ',
        ),
      ),
    );
    const second = await listed(any, { limit: 2, before: first.next_before });
    expect(second).toMatchObject({ tasks: [{ description: 'no 0' }], next_before: null });
  });

  it('cancels one for good', async () => {
    const { task_id: id } = await made('add_reminder', { delay: '1h', message: 'never' });
    const cancel = () => tasks.call(ann, 'cancel_task', { task_id: id }, DESK);
    expect(await cancel()).toMatchObject({ ok: true, data: { success: true, cancelled: true } });
    expect((await listed()).tasks.map((task) => task['id'])).not.toContain(id);
    expect(await cancel()).toMatchObject({
      ok: false,
      error: { reason: 'SCHEDULE_NOT_FOUND', origin: 'tool' },
    });
  });

  it('moves one to another time, pauses it and lets it go on', async () => {
    const said = { schedule: 'daily 9am', task_type: 'reminder', description: 'Stand up' };
    const { task_id: id } = await made('add_recurring_task', said);
    expect(await made('reschedule_task', { task_id: id, schedule: 'weekdays 6pm' })).toMatchObject({
      task_id: id,
      schedule_data: { cron: '0 18 * * 1-5' },
    });
    expect(await made('reschedule_task', { task_id: id, enabled: false })).toMatchObject({ next_run: null });
    const { trigger_at: at } = await made('reschedule_task', { task_id: id, enabled: true });
    expect(Date.parse(at)).toBeGreaterThan(Date.now());
  });

  it('counts what is made, changed and deleted', async () => {
    const text = await (await fetch(tasks.gateway.service.metricsUrl)).text();
    for (const change of ['made', 'changed', 'deleted'])
      expect(text).toMatch(new RegExp(`ute_schedule_changes_total\\{change="${change}"\\} [1-9]`));
  });
});
