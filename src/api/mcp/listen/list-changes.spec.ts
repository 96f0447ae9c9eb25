// Streams that stay open: what they tell and in which order, no faster than it is read; and those of clients that have gone take nothing.
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { settled } from '../../../../test/helpers/fake-clock.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { Exchange, type Asked } from '../protocol/exchange.ts';
import { SseAnswer } from '../protocol/sse-answer.ts';
import { ListChanges } from './list-changes.ts';

/** As many as a replica has, and more. */
const TRIES = 1_100;
const listener = { tenant: 'acme', isGood: () => Promise.resolve(true) };
let changes: ListChanges;
let toolsChange: () => void;

beforeEach(() => {
  const count = { add: () => undefined, set: () => undefined };
  const onChange = (listen: () => void) => {
    toolsChange = listen;
    return () => undefined;
  };
  changes = new ListChanges({ onChange }, count, () => undefined);
});

afterEach(() => {
  vi.useRealTimers();
  changes.close();
});

function replyTo(isGone: boolean) {
  const raw = Object.assign(new EventEmitter(), {
    destroyed: isGone,
    writableNeedDrain: false,
    writableLength: 0,
    setTimeout: vi.fn<() => void>(),
    writeHead: vi.fn<() => void>(),
    flushHeaders: vi.fn<() => void>(),
    write: vi.fn<() => void>(),
    end: vi.fn<() => void>(),
    destroy: () => {
      raw.destroyed = true;
      raw.emit('close');
    },
  });
  return { raw, reply: { raw, hijack: vi.fn<() => void>() } as never };
}

/** One that asks for tasks, of which some are watched. */
function wishFor(changes: () => AsyncIterable<string>, toolsListChanged = false) {
  const opened: AbortSignal[] = [];
  const watch = async (gone: AbortSignal) => {
    opened.push(gone);
    return { agreed: ['a'], changes: changes() };
  };
  return { opened, wish: { toolsListChanged, watch } };
}

function openStream() {
  const { raw, reply } = replyTo(false);
  const asked = { id: 'listen:0', takesEvents: true } as unknown as Asked;
  const exchange = new Exchange(asked, reply, () => undefined);
  const told = () =>
    [...raw.write.mock.calls, ...raw.end.mock.calls].map((args) => {
      const text = String((args as unknown[])[0]);
      return JSON.parse(text.slice(text.indexOf('{'))) as JsonObject;
    });
  return { raw, reply, exchange, told };
}

const SUBSCRIPTION = { 'io.modelcontextprotocol/subscriptionId': 'listen:0' };

it('a client that has gone before subscriptions/listen is served holds no slot, and nothing is watched', async () => {
  const { opened, wish } = wishFor(async function* none() {});
  const { reply } = replyTo(true);
  const exchange = new Exchange({ takesEvents: true } as unknown as Asked, reply, () => undefined);
  for (let tried = 0; tried < TRIES; tried += 1)
    expect(await changes.listen(reply, exchange, listener, wish)).toBe(true);
  expect(opened).toEqual([]);
});

it('one whose tasks cannot be watched is told why, and holds no slot', async () => {
  const away = new Error('the database is away');
  const watch = () => Promise.reject(away);
  for (let tried = 0; tried < TRIES; tried += 1) {
    const { reply, exchange } = openStream();
    const listening = changes.listen(reply, exchange, listener, { toolsListChanged: true, watch });
    await expect(listening).rejects.toBe(away);
  }
});

it('what was agreed on comes first, then the tasks, and the end once all are over: each with the id of the request', async () => {
  const { raw, reply, exchange, told } = openStream();
  const { opened, wish } = wishFor(async function* two() {
    yield '"taskId":"a","status":"working"';
    yield '"taskId":"a","status":"completed"';
  });
  const listening = changes.listen(reply, exchange, listener, wish);
  await vi.waitFor(() => expect(raw.end).toHaveBeenCalled());
  const task = { method: 'notifications/tasks' };
  expect(told()).toMatchObject([
    {
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: ['a'] }, _meta: SUBSCRIPTION },
    },
    { ...task, params: { taskId: 'a', status: 'working', _meta: SUBSCRIPTION } },
    { ...task, params: { taskId: 'a', status: 'completed', _meta: SUBSCRIPTION } },
    { id: 'listen:0', result: { resultType: 'complete', _meta: SUBSCRIPTION } },
  ]);
  expect(opened[0]?.aborted).toBe(false);
  raw.emit('close');
  await listening;
  expect(opened[0]?.aborted).toBe(true);
});

it('a stream for changes of the tools goes on when all its tasks are over', async () => {
  const { raw, reply, exchange, told } = openStream();
  const { wish } = wishFor(async function* none() {}, true);
  const listening = changes.listen(reply, exchange, listener, wish);
  await settled();
  toolsChange();
  await settled();
  expect(told().map(({ method }) => method)).toEqual([
    'notifications/subscriptions/acknowledged',
    'notifications/tools/list_changed',
  ]);
  expect(raw.end).not.toHaveBeenCalled();
  changes.close();
  expect(told().at(-1)).toMatchObject({ result: { resultType: 'complete' } });
  raw.emit('close');
  await listening;
});

it('one that reads nothing is told no more tasks than one: the rest waits where it is kept', async () => {
  let read = 0;
  const { wish } = wishFor(async function* endless() {
    for (;;) yield `"taskId":"a","run":${(read += 1)}`;
  });
  const { raw, reply, exchange, told } = openStream();
  raw.write.mockImplementation(() => void (raw.writableNeedDrain = true));
  const listening = changes.listen(reply, exchange, listener, wish);
  await settled();
  expect([read, told().length]).toEqual([1, 1]);
  for (let drained = 1; drained <= 4; drained += 1) {
    raw.writableNeedDrain = false;
    raw.emit('drain');
    await settled();
    expect(read).toBeLessThanOrEqual(drained + 1);
  }
  raw.destroy();
  await listening;
  await settled();
  expect([raw.listenerCount('drain'), raw.listenerCount('close')]).toEqual([0, 0]);
});

it('a credential that is withdrawn hears of no further task', async () => {
  const { raw, reply, exchange, told } = openStream();
  const { wish } = wishFor(async function* one() {
    yield '"taskId":"a","status":"completed"';
  });
  const revoked = { ...listener, isGood: () => Promise.resolve(false) };
  const listening = changes.listen(reply, exchange, revoked, wish);
  await listening;
  expect(told().map(({ method }) => method)).toEqual(['notifications/subscriptions/acknowledged']);
  expect(raw.destroyed).toBe(true);
});

it('a client that has gone before its GET is served leaves no timer', async () => {
  vi.useFakeTimers();
  expect(await changes.follow(replyTo(true).reply, listener)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it('an answer in a stream keeps nothing alive where its client has gone', () => {
  vi.useFakeTimers();
  const { raw, reply } = replyTo(true);
  const answer = new SseAnswer(reply, () => undefined);
  answer.push('{}', false);
  expect({ timers: vi.getTimerCount(), drains: raw.listenerCount('drain') }).toEqual({
    timers: 0,
    drains: 0,
  });
  expect(raw.write).not.toHaveBeenCalled();
  const open = replyTo(false);
  const told = new SseAnswer(open.reply, () => undefined);
  told.push('{}', false);
  expect(open.raw.write).toHaveBeenCalledOnce();
  open.raw.emit('close');
  expect(vi.getTimerCount()).toBe(0);
});
