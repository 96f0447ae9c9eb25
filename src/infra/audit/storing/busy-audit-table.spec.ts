// Specs of BusyAuditTable: when records are stored elsewhere, and what happens when that ends.
import { describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../../test/helpers/quiet-log.ts';
import { BusyAuditTable, type ElsewhereTable } from './busy-audit-table.ts';

const PIECE = Buffer.alloc(1 << 18, 'x');

class FakeThread implements ElsewhereTable {
  hasEnded = false;
  stored = 0;
  failure: Error | undefined;

  store(): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    this.stored += 1;
    return Promise.resolve();
  }

  end(): Promise<void> {
    this.hasEnded = true;
    return Promise.resolve();
  }
}

function opened() {
  const clock = new FakeClock();
  const threads: FakeThread[] = [];
  let startFails = false;
  let here = 0;
  const table = new BusyAuditTable({
    here: {
      store: () => Promise.resolve(void (here += 1)),
      takeIn: () => Promise.resolve(),
      intend: () => Promise.resolve(),
    },
    start: () => {
      if (startFails) return Promise.reject(new Error('no memory'));
      const thread = new FakeThread();
      threads.push(thread);
      return Promise.resolve(thread);
    },
    clock,
    log: quietLog,
  });
  const store = async (pieces: number) => {
    for (let count = 0; count < pieces; count += 1) {
      await table.store(PIECE, true);
      await settled();
    }
  };
  return {
    table,
    clock,
    threads,
    store,
    here: () => here,
    failStarts: (fail: boolean) => (startFails = fail),
  };
}

describe('BusyAuditTable', () => {
  it('needs no thread for some records a second', async () => {
    const { store, clock, threads, here } = opened();
    for (let second = 0; second < 20; second += 1) {
      await store(3);
      await clock.advance(1_000);
    }
    expect([threads.length, here()]).toEqual([0, 60]);
  });

  it('has one for a megabyte in a second, from the next piece on', async () => {
    const { store, threads, here } = opened();
    await store(10);
    expect([threads.length, threads[0]?.stored, here()]).toEqual([1, 6, 4]);
  });

  it('ends it after a minute without records, and has another when there are many again', async () => {
    const { store, clock, threads } = opened();
    await store(5);
    await clock.advance(59_999);
    expect(threads[0]?.hasEnded).toBe(false);
    await clock.advance(1);
    expect(threads[0]?.hasEnded).toBe(true);
    await store(5);
    expect(threads.length).toBe(2);
  });

  it('does not end it while it stores, however long that takes', async () => {
    const { table, store, clock, threads } = opened();
    await store(5);
    const { promise, resolve } = Promise.withResolvers<void>();
    Object.assign(threads[0] ?? {}, { store: () => promise });
    const stored = table.store(PIECE, true);
    await clock.advance(120_000);
    expect(threads[0]?.hasEnded).toBe(false);
    resolve();
    await stored;
  });

  it('stores here again when it has ended, and what it was storing is told as not stored', async () => {
    const { store, clock, threads, here } = opened();
    await store(5);
    Object.assign(threads[0] ?? {}, { failure: new Error('its memory was full'), hasEnded: true });
    await expect(store(1)).rejects.toThrow('its memory was full');
    await store(8);
    expect([threads.length, here()]).toEqual([1, 12]);
    await clock.advance(60_000);
    await store(5);
    expect(threads.length).toBe(2);
  });

  it('keeps it when the database refuses something', async () => {
    const { store, threads } = opened();
    await store(5);
    Object.assign(threads[0] ?? {}, { failure: Object.assign(new Error('invalid'), { code: '22P02' }) });
    await expect(store(1)).rejects.toMatchObject({ code: '22P02' });
    expect(threads[0]?.hasEnded).toBe(false);
  });

  it('one that cannot be started costs nothing but a line of the log a minute', async () => {
    const { store, clock, threads, here, failStarts } = opened();
    failStarts(true);
    await store(8);
    failStarts(false);
    await store(8);
    expect([threads.length, here()]).toEqual([0, 16]);
    await clock.advance(60_000);
    await store(5);
    expect(threads.length).toBe(1);
  });

  it('leaves none behind, also where it is closed while one starts', async () => {
    const { table, threads } = opened();
    for (let count = 0; count < 4; count += 1) await table.store(PIECE, true);
    await table.close();
    expect(threads.map(({ hasEnded }) => hasEnded)).toEqual([true]);
    await table.store(Buffer.alloc(1 << 20), true);
    expect(threads.length).toBe(1);
  });
});
