// Specs of WorkerPool under any history: fair between tenants, never above capacity, nothing lost, in order inside a tenant.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settled } from '../../../test/helpers/fake-clock.ts';
import { KEPT_SLOTS } from './fair-share.ts';
import { FakePool, fakeTask, type FakeTask, type Started } from '../../../test/helpers/fake-pool.ts';

type Step =
  | {
      readonly kind: 'ask';
      readonly tenant: string;
      readonly user: string;
      readonly exclusive: boolean;
      readonly level: number;
    }
  | { readonly kind: 'finish' | 'abort' | 'kill' | 'spoil'; readonly which: number }
  | { readonly kind: 'turn' };

const which = fc.nat(30);
const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('ask' as const),
        tenant: fc.constantFrom('a', 'a', 'a', 'b', 'c', 'd'),
        user: fc.constantFrom('1', '2'),
        exclusive: fc.boolean(),
        level: fc.constantFrom(0, 0, 0, 1),
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('finish' as const), which }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom('abort' as const, 'kill' as const, 'spoil' as const),
        which,
      }),
    },
    { weight: 3, arbitrary: fc.constant({ kind: 'turn' } as const) },
  ),
  { maxLength: 80 },
);

const shapes = fc.record({
  workers: fc.integer({ min: 1, max: 5 }),
  callsPerWorker: fc.integer({ min: 1, max: 3 }),
  onDemand: fc.boolean(),
  oneOwner: fc.boolean(),
});

/** What an observer writes down beside the pool. */
class History {
  readonly fake: FakePool;
  readonly workers: number;
  readonly asked: FakeTask[] = [];
  readonly aborters = new Map<string, AbortController>();
  readonly waiting: FakeTask[] = [];
  readonly started: string[] = [];
  /** Rules that did not hold. */
  readonly broken: string[] = [];
  readonly settled = new Map<string, string>();
  /** What is being asked for right now waits for nothing yet. */
  arriving: FakeTask | undefined;

  constructor({
    workers,
    callsPerWorker,
    onDemand,
    oneOwner,
  }: {
    workers: number;
    callsPerWorker: number;
    onDemand: boolean;
    oneOwner: boolean;
  }) {
    this.workers = workers;
    this.fake = new FakePool({ workers, callsPerWorker }, oneOwner, onDemand ? 0 : workers);
    this.fake.onStart = (started) => this.#starts(started, oneOwner);
  }

  held(tenant: string | undefined, level: number): number {
    const mine = this.fake.alive.filter(
      ({ runs }) => runs[0]?.task.tenant === tenant && runs[0]?.task.level === level,
    );
    return mine.length;
  }

  take(step: Step): void | Promise<void> {
    if (step.kind === 'turn') return settled();
    if (step.kind === 'ask') return this.#ask(step);
    const { fake } = this;
    if (step.kind === 'finish') {
      const running = pick(fake.running, step.which);
      if (running !== undefined) fake.finish(running.task.name);
    } else if (step.kind === 'abort') {
      const task = pick(this.waiting, step.which);
      if (task !== undefined) this.aborters.get(task.name)?.abort(new Error('aborted'));
    } else {
      const worker = pick(fake.alive, step.which);
      if (worker === undefined) return;
      if (step.kind === 'kill') return worker.end('died', new Error('died'));
      worker.spoiled = true;
      worker.events.onCapacity(worker);
    }
  }

  #ask({ tenant, user, exclusive, level }: Step & { kind: 'ask' }): void {
    const aborter = new AbortController();
    const name = `${tenant}${level}-${this.asked.length}`;
    const task = fakeTask(name, tenant, {
      owner: `${tenant}/${user}`,
      exclusive,
      level,
      signal: aborter.signal,
    });
    this.asked.push(task);
    this.aborters.set(name, aborter);
    this.waiting.push(task);
    this.arriving = task;
    const leave = (outcome: string) => {
      this.settled.set(name, outcome);
      this.#forget(task);
    };
    this.fake.pool.run(task).then(
      () => leave('answered'),
      (error: Error) => leave(error.message),
    );
    aborter.signal.addEventListener('abort', () => this.#forget(task));
    this.arriving = undefined;
  }

  #forget(task: FakeTask): void {
    const at = this.waiting.indexOf(task);
    if (at >= 0) this.waiting.splice(at, 1);
  }

  #starts({ task, worker }: Started, oneOwner: boolean): void {
    const { tenant, level } = task;
    this.#must(!worker.spoiled, 'a spoiled worker gets nothing');
    this.#must(
      worker.runs.every(({ task: beside }) => beside.owner === task.owner),
      'a worker serves one owner at a time',
    );
    if (oneOwner)
      this.#must(
        [...worker.owners].every((owner) => owner === task.owner),
        'a worker of one owner serves no other',
      );
    if (worker.runs.length === 0) this.#takesSlot(task, oneOwner);
    const older = this.waiting.find((other) => other.tenant === tenant && other.level === level);
    this.#must(older === task, 'first in, first out inside a tenant');
    this.#forget(task);
    this.started.push(task.name);
  }

  #takesSlot({ tenant, level }: FakeTask, oneOwner: boolean): void {
    const held = this.held(tenant, level);
    const inUse = this.fake.alive.filter(({ runs }) => runs[0]?.task.level === level).length;
    this.#must(inUse < this.workers + KEPT_SLOTS, 'never above capacity');
    this.#must(held < this.workers, 'no tenant holds every slot');
    // Where workers belong to one owner, the one that is free may be of no use to somebody who holds fewer.
    if (oneOwner) return;
    const others = this.waiting.filter(
      (other) => other !== this.arriving && other.tenant !== tenant && other.level === level,
    );
    this.#must(
      others.every((other) => this.held(other.tenant, level) >= held),
      'who holds the fewest slots is served first',
    );
  }

  #must(holds: boolean, rule: string): void {
    if (!holds) this.broken.push(rule);
  }
}

function pick<T>(list: readonly T[], at: number): T | undefined {
  return list[at % Math.max(1, list.length)];
}

describe('the worker pool, under any history', () => {
  it('is fair between tenants, never above capacity, keeps owners apart and the order inside a tenant', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, steps, async (shape, all) => {
        const history = new History(shape);
        for (const step of all) await history.take(step);
        expect(history.broken).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('leaves nobody waiting while a slot is free that the tenant may have', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, steps, async (shape, all) => {
        const history = new History(shape);
        for (const step of all) await history.take(step);
        for (let turn = 0; turn < 5; turn += 1) await settled();
        for (const { tenant, level, name } of history.waiting) {
          const inUse = history.fake.alive.filter(({ runs }) => runs[0]?.task.level === level).length;
          const held = history.held(tenant, level);
          const couldTake = inUse < history.workers + (held === 0 ? KEPT_SLOTS : 0);
          expect(couldTake, `${name} waits beside a free slot`).toBe(false);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('loses nothing: in the end every task was answered, given up, or ended with its worker', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, steps, async (shape, all) => {
        const history = new History(shape);
        for (const step of all) await history.take(step);
        const { fake } = history;
        for (let left = 500; history.waiting.length > 0 || fake.running.length > 0; left -= 1) {
          expect(left, `waits for ever: ${history.waiting[0]?.name}`).toBeGreaterThan(0);
          const [next] = fake.running;
          if (next !== undefined) fake.finish(next.task.name);
          await settled();
        }
        await settled();
        expect([...history.settled.keys()].toSorted()).toEqual(
          history.asked.map(({ name }) => name).toSorted(),
        );
        expect([...history.settled.values()].filter((end) => !ENDS.has(end))).toEqual([]);
        expect(new Set(history.started).size, 'no task ran twice').toBe(history.started.length);
      }),
      { numRuns: 200 },
    );
  });
});

const ENDS = new Set(['answered', 'aborted', 'died']);
