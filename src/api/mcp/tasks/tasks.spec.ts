// Tasks: a task is its caller's alone, and what has ended is not undone.
import { describe, expect, it } from 'vitest';
import { storedCall } from '../../../../test/helpers/async-kit.ts';
import { principalOf } from '../../../../test/helpers/call-kit.ts';
import { AskingClient, tasksOver } from '../../../../test/helpers/task-kit.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { StoredCall } from '../../../ports/calls/call-store.ts';

const ID = '0199aaaa-0000-7000-8000-00000000000a';
const MINE = { id: ID, tool: 'greet', principalId: principalOf().id, kind: 'async', door: 'mcp' } as const;
const params = { taskId: ID };
const END = new Date(1_000);
const APPROVAL = { id: 'apr-1', expires_at: '2030-01-01T00:00:00Z' };

const call = (over: Partial<StoredCall> = {}) => storedCall({ ...MINE, ...over });
const waiting = () => call({ status: 'waiting_approval', approval: APPROVAL });

describe('a task is found', () => {
  it('by who called, and by nobody else: others are told what they are told of ids that never were', async () => {
    const { tasks } = tasksOver(() => call());
    expect(await tasks.asked(params, new AskingClient('modern').asker)).toMatchObject({ id: ID });
    const other = new AskingClient('modern', { principal: principalOf({ id: 'key00002' }) });
    await expect(tasks.asked(params, other.asker)).rejects.toMatchObject({ type: 'NOT_FOUND' });
  });

  it.each([
    ['of another door', { door: 'rest' }],
    ['that was waited for', { kind: 'sync' }],
  ] as const)('not where it is a call %s', async (_what, over) => {
    const { tasks } = tasksOver(() => call(over));
    const asked = tasks.asked(params, new AskingClient('modern').asker);
    await expect(asked).rejects.toMatchObject({ type: 'NOT_FOUND' });
  });

  it.each([undefined, 7, null, {}])('not by %j for an id', async (taskId) => {
    const { tasks } = tasksOver(() => call());
    const asked = tasks.asked({ ...(taskId !== undefined && { taskId }) }, new AskingClient('modern').asker);
    await expect(asked).rejects.toMatchObject({ code: -32_602 });
  });
});

describe('a task of 2026 is told', () => {
  const get = async (found: StoredCall, envelope?: string, opensUrls = false) => {
    const client = new AskingClient('modern', { opensUrls });
    const fields = await tasksOver(() => found, envelope).tasks.get(params, client.asker);
    return { fields, pasted: client.pasted };
  };

  it('with its result as the tool’s answer was encoded', async () => {
    const ended = call({ status: 'succeeded', finishedAt: END });
    const { fields, pasted } = await get(
      ended,
      '{"ok":true,"data":{"n":1.0},"intents":[],"meta":{"tool":"greet"}}',
    );
    expect(fields).toMatchObject({ taskId: ID, status: 'completed' });
    expect(pasted).toContain('"structuredContent":{"n":1.0}');
    expect(JSON.parse(`{${pasted}}`)).toMatchObject({ result: { resultType: 'complete' } });
  });

  it('with what the tool failed by, as a result that says so', async () => {
    const error = { type: 'PERMANENT', message: 'No.', origin: 'tool' };
    const ended = call({ status: 'failed', finishedAt: END, errorType: 'PERMANENT' });
    const { fields, pasted } = await get(ended, JSON.stringify({ ok: false, error, meta: {} }));
    expect(fields).toMatchObject({ status: 'completed' });
    expect(JSON.parse(`{${pasted}}`)).toMatchObject({ result: { isError: true } });
  });

  it('with where to approve it, to a client that can open that', async () => {
    const { fields } = await get(waiting(), undefined, true);
    expect(fields).toMatchObject({
      status: 'input_required',
      inputRequests: {
        'approval-apr-1': { params: { url: 'https://gateway.example/v1/approvals/apr-1' } },
      },
    });
    expect((await get(waiting())).fields).toMatchObject({ status: 'working' });
  });

  it('as cancelled without a result', async () => {
    const { fields, pasted } = await get(call({ status: 'cancelled', finishedAt: END }));
    expect(fields).toMatchObject({ status: 'cancelled' });
    expect(pasted).toBe('');
  });
});

describe('whoever cancels a task', () => {
  it('has its call cancelled, on record', async () => {
    const { tasks, done } = tasksOver(() => call());
    expect(await tasks.cancel(params, new AskingClient('modern').asker)).toEqual({});
    expect(done).toEqual(['calls.cancel', `cancel ${ID}`]);
    const told = await tasks.cancel(params, new AskingClient('legacy').asker);
    expect(told).toMatchObject({ status: 'cancelled' });
  });

  it('that has ended is told so in 2025, and in 2026 nothing', async () => {
    const { tasks, done } = tasksOver(() => call({ status: 'succeeded', finishedAt: END }));
    const legacy = tasks.cancel(params, new AskingClient('legacy').asker);
    await expect(legacy).rejects.toMatchObject({ message: expect.stringContaining("'completed'") });
    expect(await tasks.cancel(params, new AskingClient('modern').asker)).toEqual({});
    expect(done).toEqual([]);
  });

  it('that ends just then is told the same', async () => {
    let looks = 0;
    const racing = () => {
      looks += 1;
      if (looks > 1) throw new ToolFailure('CONFLICT', 'It has ended.', { reason: 'CALL_ENDED' });
      return call();
    };
    const { tasks } = tasksOver(racing);
    expect(await tasks.cancel(params, new AskingClient('modern').asker)).toEqual({});
  });
});

describe('what a client says of an approval', () => {
  const update = async (found: StoredCall, responses: object) => {
    const { tasks, done } = tasksOver(() => found);
    await tasks.update(params, responses as never, new AskingClient('modern').asker);
    return done;
  };

  it('that its user has seen it is kept', async () => {
    expect(await update(waiting(), { 'approval-apr-1': { action: 'accept' } })).toEqual([`shown ${ID}`]);
  });

  it('that its user declines cancels the call, and approves nothing', async () => {
    expect(await update(waiting(), { 'approval-apr-1': { action: 'decline' } })).toContain(`cancel ${ID}`);
  });

  it.each([
    ['of another approval', waiting(), { 'approval-apr-2': { action: 'decline' } }],
    ['that is no answer', waiting(), { 'approval-apr-1': 'decline' }],
    ['below another name', waiting(), JSON.parse('{"__proto__":{"approval-apr-1":{"action":"decline"}}}')],
    ['of a call that waits for none', call(), { 'approval-': { action: 'decline' } }],
  ])('%s is left alone', async (_what, found, responses) => {
    expect(await update(found, responses)).toEqual([]);
  });
});
