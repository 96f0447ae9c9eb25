// Processes of threads that fail to start, die, or hold a thread back: who hears of it, and when the next one starts.
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { ProcessExit, ProcessSpawner } from '../../../ports/egress/process-spawner.ts';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import { recordingLog } from '../../../../test/helpers/call-kit.ts';
import { encodeNews } from './host-frames.ts';
import { ThreadHosts } from './thread-hosts.ts';
import type { ThreadEnd, ThreadOwner } from './thread-owner.ts';

class FakeHost {
  readonly pid = 1;
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly toChild = new PassThrough();
  readonly fromChild = new PassThrough();
  readonly #exit = Promise.withResolvers<ProcessExit>();
  readonly exited = this.#exit.promise;
  killed = false;

  kill(): void {
    this.killed = true;
    this.end('SIGKILL');
  }

  end(signal: string): void {
    this.stderr.end();
    this.#exit.resolve({ code: null, signal });
  }
}

class Owner implements ThreadOwner {
  isFree = true;
  readonly told: (ThreadEnd['kind'] | 'retire' | 'really gone')[] = [];
  end: ThreadEnd | undefined;
  onMessage(): void {}
  onEnd(end: ThreadEnd): void {
    this.end = end;
    this.told.push(end.kind);
  }
  onGone(): void {
    this.told.push('really gone');
  }
  onRetire(): void {
    this.told.push('retire');
  }
}

function start(spawn?: ProcessSpawner['spawn']) {
  const started: FakeHost[] = [];
  const clock = new FakeClock();
  const spawner: ProcessSpawner = {
    spawn: spawn ?? (async () => (started.push(new FakeHost()), started.at(-1) ?? new FakeHost())),
  };
  const settings = { maxMessageBytes: 1_000, maxMemoryBytes: 1_000 };
  const hosts = new ThreadHosts({ spawner, clock, log: recordingLog(), settings });
  return { hosts, clock, started, open: (owner = new Owner()) => ({ owner, thread: hosts.open(owner) }) };
}

const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('a process of threads', () => {
  it('that cannot be started is tried again with the next thread', async () => {
    const { open } = start(() => Promise.reject(new Error('no')));
    for (const { owner } of [open(), open()]) {
      await settled();
      expect(owner.told).toEqual(['really gone', 'no_host']);
    }
  });

  it('is one for all threads, and a new one after it died', async () => {
    const { open, started } = start();
    const [first, second] = [open().owner, open().owner];
    first.isFree = false;
    await settled();
    expect(started).toHaveLength(1);
    started[0]?.stderr.write('FATAL ERROR: Reached heap limit Allocation failed\n');
    started[0]?.end('SIGABRT');
    await settled();
    await settled();
    for (const owner of [first, second]) expect(owner.end).toMatchObject({ blamed: true, served: false });
    open();
    await settled();
    expect(started).toHaveLength(2);
  });

  it('blames nobody when several threads were busy, or it did not say that its memory was used up', async () => {
    for (const [busy, signal] of [
      [2, 'SIGABRT'],
      [1, 'SIGTERM'],
      [1, 'SIGABRT'],
      [1, 'SIGKILL'],
    ] as const) {
      const { open, started } = start();
      const owners = [open().owner, open().owner];
      for (const owner of owners.slice(0, busy)) owner.isFree = false;
      await settled();
      started[0]?.end(signal);
      await settled();
      for (const { end } of owners) expect(end).toMatchObject({ kind: 'host_ended', blamed: false });
    }
  });

  it('in which a thread is stuck takes no more, and ends when the calls in it are over', async () => {
    const { open, started, clock } = start();
    const [stuck, busy] = [open(), open()];
    await settled();
    stuck.thread.end();
    await clock.advance(1_000);
    expect(busy.owner.told).toEqual(['retire']);
    open();
    await settled();
    expect(started.map(({ killed }) => killed)).toEqual([false, false]);
    busy.thread.end();
    expect(started.map(({ killed }) => killed)).toEqual([true, false]);
    expect(stuck.owner.told).toContain('really gone');
  });

  it('is not given up when its threads end in time, and ends when it has none', async () => {
    const { open, started, clock } = start();
    const { owner, thread } = open();
    await settled();
    thread.end();
    started[0]?.fromChild.write(encodeNews(1, { kind: 'gone', code: 1 }));
    await settled();
    expect(owner.told).toEqual(['really gone', 'gone']);
    expect(started[0]?.killed).toBe(false);
    await clock.advance(5_000);
    expect(started[0]?.killed).toBe(true);
  });

  it('is one of three at most, however many threads are stuck', async () => {
    const { open, started, clock } = start();
    for (let round = 0; round < 5; round += 1) {
      const [stuck] = [open(), open()];
      await settled();
      stuck.thread.end();
      await clock.advance(1_000);
    }
    expect(started.map(({ killed }) => killed)).toEqual([true, true, true, false, false]);
  });
});
