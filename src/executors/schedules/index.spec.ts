// The schedules executor: what is asked of the gateway's schedules, and what a task that is due calls, tells and fails with.
import { describe, expect, it } from 'vitest';
import { callOf, functionOf, principalOf } from '../../../test/helpers/call-kit.ts';
import { scheduleAt } from '../../../test/helpers/schedule-kit.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import { refusalOf, successOf } from '../../core/settle.ts';
import type { CallerSchedules, OwnBounds, OwnDraft } from '../../ports/calls/caller-schedules.ts';
import { schedulesExecutor } from './index.ts';
import { schedulesSettingsSchema } from './settings.ts';

const TOOLS: Readonly<Record<string, object>> = {
  search_web: { properties: { query: {}, limit: {} } },
  summing_search: { properties: { query: {}, summarize: {} } },
  'email.send_email': {},
  ask_agent: {},
};
const snapshot = {
  find: (name: string) =>
    TOOLS[name] === undefined
      ? undefined
      : { function: functionOf({ name, inputSchema: { type: 'object', ...TOOLS[name] } }) },
} as unknown as ToolSet;

const EVERY = 'delay message schedule task_type description execution_data email task_id'.split(' ');
const inputSchema = { type: 'object', properties: Object.fromEntries(EVERY.map((name) => [name, {}])) };

function setUp({
  settings = {},
  refused,
  fails = [],
  needsApproval = false,
}: { settings?: object; refused?: ToolFailure; fails?: string[]; needsApproval?: boolean } = {}) {
  const made: (OwnDraft & { bounds: OwnBounds })[] = [];
  const steps: { tool: string; args: JsonObject }[] = [];
  const callerSchedules: CallerSchedules = {
    create: async (_parent, draft, bounds) => {
      made.push({ ...draft, bounds });
      return { schedule: scheduleAt({ id: 's1', taskType: draft.taskType, description: draft.description }) };
    },
    list: async () => [],
    delete: async () => undefined,
    change: async () => ({ schedule: scheduleAt() }),
    runs: async () => [],
    check: async () => {
      if (refused !== undefined) throw refused;
      return { needsApproval };
    },
  };
  const nestedCalls = {
    async run(parent: ToolCall, tool: string, args: JsonObject) {
      steps.push({ tool, args });
      const failure = new ToolFailure('TRANSIENT', 'It is away.', {
        partialSideEffects: false,
        origin: 'tool',
      });
      if (fails.includes(tool)) return refusalOf(parent, failure);
      return successOf(parent, { data: { from: tool }, intents: [{ type: 'SEEN' }] }, 1_000);
    },
  };
  const executor = schedulesExecutor.create({
    callerSchedules,
    nestedCalls,
    settings: schedulesSettingsSchema().parse(settings),
  });
  async function run(options: object, args: JsonObject, more: Partial<ToolCall> = {}) {
    const target = {
      function: functionOf({ inputSchema }),
      options: schedulesExecutor.optionsSchema.parse(options),
    };
    const prepared = await executor.prepare(target);
    const call = callOf({ arguments: args, snapshot, principal: principalOf(), ...more });
    return prepared.execute(call, () => undefined);
  }
  return { run, made, steps };
}

const RECUR = { operation: 'create', kind: 'recurring' };
const search = {
  schedule: 'weekdays 9am',
  task_type: 'web_search',
  description: 'News',
  execution_data: { query: 'US top news', limit: 3, summarize: true },
};

describe('what is scheduled', () => {
  it('is the tool of its type itself, by what it declares; more than one call is the runner’s', async () => {
    const { run, made } = setUp();
    await run(RECUR, search);
    await run(RECUR, { ...search, email: 'ann@example.com' });
    expect(made).toMatchObject([
      {
        tool: 'search_web',
        arguments: { query: 'US top news', limit: 3 },
        bounds: { kind: 'recurring', maxPerOwner: 100, minIntervalMs: 300_000 },
      },
      {
        tool: 'run_task',
        arguments: {
          task_type: 'web_search',
          email: 'ann@example.com',
          execution_data: search.execution_data,
        },
      },
    ]);
    expect(made[0]?.arguments).not.toHaveProperty('summarize');
  });

  it('is called by the names that the operator gave, and told to where the operator says', async () => {
    const tools = { web_search: 'summing_search', agent_task: 'ask_agent' };
    const { run, made } = setUp({ settings: { tools, callback_url: 'https://host/all' } });
    await run(RECUR, search);
    const config = { callback_url: 'https://host/own', time_zone: 'Europe/Berlin', email: '' };
    const prompt = { ...search, task_type: 'agent_task', execution_data: { prompt: 'Look.' } };
    await run(RECUR, prompt, { config });
    expect(made).toMatchObject([
      { tool: 'summing_search', arguments: search.execution_data, callbackUrl: 'https://host/all' },
      {
        tool: 'ask_agent',
        arguments: { prompt: 'Look.' },
        callbackUrl: 'https://host/own',
        timeZone: 'Europe/Berlin',
      },
    ]);
  });

  it.each([
    ['a tool that is not there', { ...search, task_type: 'api_call' }, 'TASK_TOOL_NOT_FOUND'],
    ['an agent without a prompt', { ...search, task_type: 'agent_task' }, 'SCHEMA_MISMATCH'],
    ['a type of its own', { ...search, task_type: 'tool_call' }, 'SCHEMA_MISMATCH'],
    ['no time', { ...search, schedule: ' ' }, 'SCHEMA_MISMATCH'],
    ['data that is too much', { ...search, execution_data: { query: 'x'.repeat(8_192) } }, 'SCHEMA_MISMATCH'],
  ])('is not %s', async (_what, args, reason) => {
    const { run, made } = setUp();
    await expect(run(RECUR, args)).rejects.toMatchObject({
      reason,
      origin: 'tool',
      partialSideEffects: false,
    });
    expect(made).toEqual([]);
  });

  it('is nothing that somebody would have to approve at each run', async () => {
    const { run } = setUp({ needsApproval: true });
    const told = run(RECUR, { ...search, email: 'ann@example.com' });
    await expect(told).rejects.toMatchObject({ reason: 'TASK_NEEDS_APPROVAL', partialSideEffects: false });
  });
});

it('a tool that the task may not call is named, so that it is not taken for the one that makes the task', async () => {
  const refused = new ToolFailure('PERMISSION_DENIED', 'This tool is not configured for this agent.', {
    reason: 'TOOL_NOT_CONFIGURED',
  });
  await expect(setUp({ refused }).run(RECUR, { ...search, email: 'ann@example.com' })).rejects.toMatchObject({
    reason: 'TOOL_NOT_CONFIGURED',
    message: 'The task is to call "search_web": This tool is not configured for this agent.',
    details: { tool: 'search_web' },
  });
});

describe('a task that is due', () => {
  const due = {
    task_type: 'web_search',
    description: 'News\r\nBcc: x',
    execution_data: { query: 'x' },
    email: 'a@b.c',
  };

  it('calls its tool, mails what it found in one line’s subject, and passes intents on', async () => {
    const { run, steps } = setUp();
    const result = await run({ operation: 'run' }, due);
    expect(result).toMatchObject({
      data: { result: { from: 'search_web' }, told_by_mail: true },
      intents: [{ type: 'SEEN' }],
    });
    expect(steps).toMatchObject([
      { tool: 'search_web', args: { query: 'x' } },
      { tool: 'email.send_email', args: { to: 'a@b.c', subject: 'Scheduled search: News Bcc: x' } },
    ]);
    expect(steps[1]?.args['body']).toContain('"from": "search_web"');
  });

  it('that fails says so by mail, and is not to be run again once the mail is out', async () => {
    const { run, steps } = setUp({ fails: ['search_web'] });
    const failed = { type: 'TRANSIENT', retryable: false, partialSideEffects: true };
    await expect(run({ operation: 'run' }, due)).rejects.toMatchObject(failed);
    expect(steps[1]?.args['body']).toContain('It failed: It is away.');
    const { email: _email, ...quiet } = due;
    const again = { type: 'TRANSIENT', retryable: true, partialSideEffects: false };
    await expect(setUp({ fails: ['search_web'] }).run({ operation: 'run' }, quiet)).rejects.toMatchObject(
      again,
    );
  });

  it('says by its intent what its caller is asked for, where the operator named no tool for that', async () => {
    const { run } = setUp();
    const reminder = { task_type: 'reminder', description: 'call mom', execution_data: {} };
    expect(await run({ operation: 'run' }, reminder)).toMatchObject({
      data: { message: 'call mom' },
      intents: [{ type: 'REMINDER', message: 'call mom' }],
    });
  });
});

it('is refused at load where callers cannot say what it reads', async () => {
  const executor = schedulesExecutor.create({} as never);
  const options = schedulesExecutor.optionsSchema.parse({ operation: 'create', when: 'soon' });
  const target = { function: functionOf({ inputSchema }), options };
  await expect((async () => executor.prepare(target))()).rejects.toThrow('no property "soon"');
});

it.each([
  ['a minute', '1m', true],
  ['a second', '1s', false],
  ['two days', '2d', false],
  ['no duration', 'often', false],
])('the least interval may be %s: %s', (_what, min_interval, expected) => {
  expect(schedulesSettingsSchema().safeParse({ min_interval }).success).toBe(expected);
});
