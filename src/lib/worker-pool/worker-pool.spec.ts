// Specs of WorkerPool: who gets a slot and who waits, and what becomes of workers. See also the property tests.
import { describe, expect, it } from 'vitest';
import { FakePool, fakeTask, type FakePoolWorker } from '../../../test/helpers/fake-pool.ts';
import { settled } from '../../../test/helpers/fake-clock.ts';
import { NotStarted } from './pool-options.ts';

async function poolOf(...args: ConstructorParameters<typeof FakePool>): Promise<FakePool> {
  const fake = new FakePool(...args);
  fake.pool.tend();
  await settled();
  return fake;
}

/** Names of what runs, by the order of their coming. */
const namesOf = (fake: FakePool) => fake.running.map(({ task }) => task.name).toSorted();

function ask(fake: FakePool, name: string, tenant: string, more: Parameters<typeof fakeTask>[2] = {}) {
  const outcome = fake.pool.run(fakeTask(name, tenant, more));
  outcome.catch(() => undefined);
  return outcome;
}

describe('slots', () => {
  it.each([1, 2, 5])(
    'of %i and the kept one, a tenant never holds the last: another is served',
    async (workers) => {
      const fake = await poolOf({ workers });
      const own = Array.from({ length: workers }, (_, at) => `a${at}`);
      for (const name of [...own, 'a-late', 'a-later']) void ask(fake, name, 'a');
      expect(namesOf(fake)).toEqual(own);
      void ask(fake, 'b1', 'b');
      await settled();
      expect(namesOf(fake)).toEqual([...own, 'b1']);
    },
  );

  it('a tenant that holds none is served before one that holds some, whoever waited longer', async () => {
    const fake = await poolOf({ workers: 2 });
    for (const name of ['a1', 'a2', 'a3']) void ask(fake, name, 'a');
    void ask(fake, 'b1', 'b');
    await settled();
    void ask(fake, 'c1', 'c');
    expect(namesOf(fake)).toEqual(['a1', 'a2', 'b1']);
    fake.finish('a1');
    await settled();
    expect(namesOf(fake)).toEqual(['a2', 'b1', 'c1']);
  });

  it('calls that share a worker leave it when another tenant waits without one', async () => {
    const fake = await poolOf({ workers: 1, callsPerWorker: 4 });
    const shared = { exclusive: false };
    void ask(fake, 'a1', 'a', shared);
    void ask(fake, 'a2', 'a', shared);
    void ask(fake, 'b1', 'b', shared);
    await settled();
    void ask(fake, 'c1', 'c', shared);
    void ask(fake, 'a3', 'a', shared);
    expect(namesOf(fake)).toEqual(['a1', 'a2', 'b1']);
    fake.finish('a1');
    fake.finish('a2');
    await settled();
    expect(namesOf(fake)).toEqual(['b1', 'c1']);
  });

  it('what a call waits for never waits behind calls: levels have slots of their own', async () => {
    const fake = await poolOf({ workers: 1 });
    void ask(fake, 'a1', 'a');
    void ask(fake, 'step', 'a', { level: 1 });
    await settled();
    expect(namesOf(fake)).toEqual(['a1', 'step']);
  });
});

describe('a worker in which something of a task is left', () => {
  it('is given to its owner, and to others once nothing is left', async () => {
    const fake = await poolOf({ workers: 1 });
    const worker = await leaveSomething(fake, 'a');
    void ask(fake, 'a2', 'a');
    expect(worker.runs.map(({ task }) => task.name)).toEqual(['a2']);
    fake.finish('a2');
    await settled();
    worker.keepsOwner = false;
    void ask(fake, 'b1', 'b');
    expect(worker.runs.map(({ task }) => task.name)).toEqual(['b1']);
    expect(fake.workers).toHaveLength(1);
  });

  it('is kept beside a new one for a task of another owner, and replaced once there are as many as may be', async () => {
    const fake = await poolOf({ workers: 1 });
    await leaveSomething(fake, 'a');
    for (const [name, tenant] of [
      ['b1', 'b'],
      ['c1', 'c'],
      ['a2', 'a'],
    ] as const) {
      void ask(fake, name, tenant);
      await settled();
      const worker = fake.workers.findLast(({ runs }) => runs.some(({ task }) => task.name === name));
      expect([...(worker?.owners ?? [])]).toEqual([tenant]);
      if (worker !== undefined) worker.keepsOwner = true;
      fake.finish(name);
      await settled();
    }
    expect(fake.workers.map(({ ended }) => ended)).toEqual([true, true, false, false]);
  });

  it('and of which it is not known whether it is stuck, is not ended for one', async () => {
    const fake = await poolOf({ workers: 1 });
    const worker = await leaveSomething(fake, 'a');
    worker.isSound = false;
    void ask(fake, 'a2', 'a');
    await settled();
    expect(worker.ended).toBe(false);
    worker.isSound = true;
    worker.events.onCapacity(worker);
    expect(worker.runs.map(({ task }) => task.name)).toEqual(['a2']);
  });

  it('serves its owner before that is known, unless others wait; those wait until it is', async () => {
    const fake = await poolOf({ workers: 1 });
    const worker = await leaveSomething(fake, 'a');
    worker.keepsOwner = false;
    worker.isSettling = true;
    void ask(fake, 'a2', 'a');
    expect(worker.runs.map(({ task }) => task.name)).toEqual(['a2']);
    for (const name of ['b1', 'c1']) void ask(fake, name, name);
    void ask(fake, 'a3', 'a');
    fake.finish('a2');
    await settled();
    worker.events.onCapacity(worker);
    expect(worker.runs).toEqual([]);
    expect(worker.ended).toBe(false);
    worker.isSettling = false;
    worker.events.onCapacity(worker);
    expect(worker.runs.map(({ task }) => task.name)).toEqual(['c1']);
  });

  async function leaveSomething(fake: FakePool, tenant: string): Promise<FakePoolWorker> {
    void ask(fake, 'first', tenant);
    const [worker] = fake.workers;
    if (worker === undefined) throw new Error('no worker was started');
    worker.keepsOwner = true;
    fake.finish('first');
    await settled();
    return worker;
  }
});

describe('the queue', () => {
  it('is never full of one tenant: another one can always wait', async () => {
    const fake = await poolOf({ workers: 1, maxQueue: 2 });
    void ask(fake, 'a1', 'a');
    void ask(fake, 'b1', 'b');
    await settled();
    void ask(fake, 'a2', 'a');
    void ask(fake, 'a3', 'a');
    await expect(ask(fake, 'a4', 'a')).rejects.toThrow('queue full');
    void ask(fake, 'c1', 'c');
    void ask(fake, 'd1', 'd');
    await expect(ask(fake, 'e1', 'e')).rejects.toThrow('queue full');
  });

  it('lets go of an aborted task, which never runs', async () => {
    const fake = await poolOf({ workers: 1 });
    const aborter = new AbortController();
    void ask(fake, 'a1', 'a');
    const given = ask(fake, 'a2', 'a', { signal: aborter.signal });
    void ask(fake, 'a3', 'a');
    aborter.abort(new Error('gone'));
    await expect(given).rejects.toThrow('gone');
    fake.finish('a1');
    await settled();
    expect(namesOf(fake)).toEqual(['a3']);
  });
});

describe('workers', () => {
  it('that end before they began a task lose nothing: another one runs it', async () => {
    const fake = await poolOf({ workers: 1, callsPerWorker: 4 });
    const outcome = ask(fake, 'a1', 'a', { exclusive: false });
    const [worker] = fake.alive;
    worker?.end('died', new NotStarted());
    await settled();
    await settled();
    fake.finish('a1');
    expect(await outcome).toBe('a1');
  });

  it('that are spoiled get nothing more, and are replaced when nobody waits for them', async () => {
    const fake = await poolOf({ workers: 1, callsPerWorker: 4 });
    void ask(fake, 'a1', 'a', { exclusive: false });
    const [first] = fake.alive;
    if (first !== undefined) first.spoiled = true;
    void ask(fake, 'a2', 'a', { exclusive: false });
    await settled();
    expect(fake.running.map(({ task, worker }) => [task.name, worker === first])).toEqual([['a1', true]]);
    fake.finish('a1');
    await settled();
    await settled();
    expect(first?.ended).toBe(true);
    expect(namesOf(fake)).toEqual(['a2']);
    expect(fake.replaced).toEqual(['recycled']);
  });

  it('of one owner serve no other, and are replaced when another one waits', async () => {
    const fake = await poolOf({ workers: 1, callsPerWorker: 2 }, true);
    const mine = { owner: 'a/ann', exclusive: false };
    const his = { owner: 'a/bob', exclusive: false };
    void ask(fake, 'ann1', 'a', mine);
    const [first] = fake.alive;
    fake.finish('ann1');
    await settled();
    void ask(fake, 'ann2', 'a', mine);
    expect(fake.running[0]?.worker).toBe(first);
    void ask(fake, 'bob1', 'a', his);
    expect(namesOf(fake)).toEqual(['ann2']);
    fake.finish('ann2');
    for (let turn = 0; turn < 3; turn += 1) await settled();
    expect(namesOf(fake)).toEqual(['bob1']);
    expect(first?.ended).toBe(true);
  });

  it('that cannot be started refuse whoever waits, with a pause before the next try', async () => {
    const fake = new FakePool({ workers: 1 });
    fake.startFails = true;
    const waiting = ask(fake, 'a1', 'a');
    await expect(waiting).rejects.toThrow('cannot start');
    fake.startFails = false;
    await fake.clock.advance(5_000);
    void ask(fake, 'a2', 'a');
    expect(namesOf(fake)).toEqual(['a2']);
  });
});
