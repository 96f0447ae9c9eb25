// Watching a server: as often as agreed, when it says so, and never as often as a server likes.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { McpServer } from '../../ports/egress/mcp-servers.ts';
import { AWAY } from '../../lib/files/poll-content.ts';
import { watchServer } from './watch-server.ts';

let clock: FakeClock;
let ending: AbortController;
let asked: number;
let changes: number;
let loaded: string;
let current: string;
let listeners: Set<() => void>;
let watching: Promise<void>;

beforeEach(() => {
  clock = new FakeClock();
  ending = new AbortController();
  [asked, changes, loaded, current] = [0, 0, 'a', 'a'];
  listeners = new Set();
  const server = {
    onToolsChanged: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as McpServer;
  const watch = {
    clock,
    everyMs: 300_000,
    awayMs: 15_000,
    random: () => 0.5,
    server: () => server,
    loaded: () => loaded,
    current: async () => {
      asked += 1;
      return current;
    },
  };
  watching = watchServer(watch, () => (changes += 1), ending.signal);
});

afterEach(async () => {
  ending.abort();
  await watching;
});

const say = () => listeners.forEach((listener) => listener());

describe('watchServer', () => {
  it('asks once in the time agreed, and tells of a change once', async () => {
    await clock.advance(299_000);
    expect(asked).toBe(0);
    current = 'b';
    await clock.advance(1_000);
    expect([asked, changes]).toEqual([1, 1]);
    await clock.advance(300_000);
    expect([asked, changes]).toEqual([2, 1]);
  });

  it('asks when the server says that something changed', async () => {
    await clock.advance(10_000);
    current = 'b';
    say();
    await clock.advance(1);
    expect([asked, changes]).toEqual([1, 1]);
  });

  it('a server that announces a change every millisecond is asked every five seconds', async () => {
    for (let second = 0; second < 60; second += 1) {
      for (let times = 0; times < 100; times += 1) say();
      await clock.advance(1_000);
    }
    expect(asked).toBeGreaterThan(5);
    expect(asked).toBeLessThanOrEqual(12);
    expect(changes).toBe(0);
  });

  it('a server that was away is asked more often, and its coming is a change', async () => {
    loaded = AWAY;
    current = AWAY;
    // The pause that has begun is still the long one.
    await clock.advance(300_000);
    const before = asked;
    await clock.advance(60_000);
    expect(asked - before).toBe(4);
    expect(changes).toBe(0);
    current = 'b';
    await clock.advance(15_000);
    expect(changes).toBe(1);
  });

  it('ends with its signal, and listens no longer', async () => {
    await clock.advance(10_000);
    expect(listeners.size).toBe(1);
    ending.abort();
    await watching;
    expect([listeners.size, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('a server that goes is told of once, so that the registry says what stands in for it', async () => {
    current = AWAY;
    await clock.advance(900_000);
    expect([asked, changes]).toEqual([3, 1]);
  });
});
