// Streams of clients that have gone before they are opened take nothing.
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ListChanges } from './list-changes.ts';
import { SseAnswer } from './sse-answer.ts';

/** As many as a replica has, and more. */
const TRIES = 1_100;
const listener = { tenant: 'acme', isGood: () => Promise.resolve(true) };
let changes: ListChanges;

beforeEach(() => {
  const count = { add: () => undefined, set: () => undefined };
  changes = new ListChanges({ onChange: () => () => undefined }, count);
});

afterEach(async () => {
  vi.useRealTimers();
  await changes.close();
});

function replyTo(isGone: boolean) {
  const raw = Object.assign(new EventEmitter(), {
    destroyed: isGone,
    writableNeedDrain: false,
    writeHead: vi.fn<() => void>(),
    flushHeaders: vi.fn<() => void>(),
    write: vi.fn<() => void>(),
    end: vi.fn<() => void>(),
  });
  return { raw, reply: { raw, hijack: vi.fn<() => void>() } as never };
}

it('a client that has gone before subscriptions/listen is served holds no slot', async () => {
  const body = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} };
  const request = { headers: {} } as never;
  for (let tried = 0; tried < TRIES; tried += 1)
    expect(await changes.listen(request, replyTo(true).reply, listener, body)).toBe(true);
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
