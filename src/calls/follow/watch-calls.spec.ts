// Watched calls: whatever becomes of them, in whatever order and however slow the reader, it ends with what each became in the end.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { storedCall } from '../../../test/helpers/async-kit.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import { MemoryCallStore } from '../../../test/helpers/memory-call-store.ts';
import { MemoryCallHints } from '../../infra/hints/memory-call-hints.ts';
import type { StoredCall } from '../../ports/calls/call-store.ts';
import { CallLooks } from './call-looks.ts';
import { CallWatches } from './call-watches.ts';
import { watchCalls } from './watch-calls.ts';

const TENANT = 'acme';
const NEVER = new AbortController().signal;

function setUp(count: number) {
  const store = new MemoryCallStore();
  const hints = new MemoryCallHints();
  const clock = new FakeClock();
  const looks = new CallLooks(store);
  const ids = Array.from({ length: count }, (_, at) => `call-${at}`);
  const put = (id: string, over: Partial<StoredCall>) =>
    store.rows.set(id, storedCall({ tenantId: TENANT, ...store.rows.get(id), ...over, id }));
  for (const id of ids) put(id, {});
  const gone = new AbortController();
  const drain = new AbortController();
  const deps = { looks, hints, clock };
  const watch = () =>
    watchCalls(deps, { tenantId: TENANT, ids, gone: gone.signal, drain: drain.signal })[
      Symbol.asyncIterator
    ]();
  return { store, hints, clock, looks, ids, put, gone, drain, deps, watch };
}

type Kit = ReturnType<typeof setUp>;

const END = { status: 'succeeded', finishedAt: new Date(9) } as const;
const STEPS: readonly Partial<StoredCall>[] = [
  { status: 'running', startedAt: new Date(1), runs: 1 },
  { cancelRequested: true },
  { status: 'waiting_approval', approval: { id: 'a', expires_at: '' } },
  { status: 'waiting_approval', approval: { id: 'a', expires_at: '', shown: true } },
];

/** Reads on its own, as slowly as `pace` lets it. */
function reading({ watch }: Kit, pace: () => Promise<void> = async () => undefined) {
  const told: StoredCall[] = [];
  const calls = watch();
  const over = (async () => {
    for (let next = await calls.next(); next.done !== true; next = await calls.next()) {
      told.push(next.value);
      await pace();
    }
  })();
  return { told, over };
}

describe('watched calls', () => {
  it('end with what each became, whatever came before, and tell no state twice in a row', async () => {
    const step = fc.record({ call: fc.nat(2), to: fc.nat(STEPS.length - 1), isTold: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.boolean(), async (steps, isSlow) => {
        const kit = setUp(3);
        const turns: (() => void)[] = [];
        const slowly = () => new Promise<void>((resolve) => turns.push(resolve));
        const { told, over } = reading(kit, isSlow ? slowly : undefined);
        for (const { call, to, isTold } of steps) {
          const id = `call-${call}`;
          kit.put(id, STEPS[to] ?? {});
          if (isTold) kit.hints.publish('news', id);
          await settled();
        }
        for (const id of kit.ids) kit.put(id, END);
        // Each look comes a second after the last, and each thing to tell takes a turn.
        for (let round = 0; round < 50; round += 1) {
          for (const go of turns.splice(0)) go();
          await kit.clock.advance(1_000);
        }
        await over;
        for (const id of kit.ids) {
          const own = told.filter((each) => each.id === id);
          expect(own.at(-1)).toEqual(kit.store.rows.get(id));
          expect(own.filter((each, at) => at > 0 && each === own[at - 1])).toEqual([]);
        }
        expect(kit.looks.againMs).toBe(1_000);
      }),
      { numRuns: 60 },
    );
  });

  it('are told as they are at first: one that has ended meanwhile is not waited for', async () => {
    const kit = setUp(1);
    kit.put('call-0', END);
    const { told, over } = reading(kit);
    await over;
    expect(told).toMatchObject([{ id: 'call-0', status: 'succeeded' }]);
  });

  it('are told by a hint at once, and without one after a while', async () => {
    const kit = setUp(1);
    const { told } = reading(kit);
    await settled();
    kit.put('call-0', { status: 'running' });
    kit.hints.publish('news', 'call-0');
    await settled();
    expect(told.map(({ status }) => status)).toEqual(['queued', 'running']);
    kit.put('call-0', { cancelRequested: true });
    await settled();
    expect(told).toHaveLength(2);
    await kit.clock.advance(1_000);
    expect(told).toHaveLength(3);
    kit.gone.abort();
    await settled();
  });

  it('are looked at no faster than they are read: of many changes a slow reader is told the last', async () => {
    const kit = setUp(1);
    const calls = kit.watch();
    await calls.next();
    for (let run = 1; run <= 1_000; run += 1) {
      kit.put('call-0', { runs: run });
      kit.hints.publish('news', 'call-0');
    }
    expect((await calls.next()).value).toMatchObject({ runs: 1_000 });
    kit.gone.abort();
    expect((await calls.next()).done).toBe(true);
  });

  it.each(['gone', 'drain'] as const)('are over with %s, and nothing waits on', async (which) => {
    const kit = setUp(2);
    const { over } = reading(kit);
    await settled();
    kit[which].abort();
    await over;
    expect(kit.looks.againMs).toBe(1_000);
    expect(kit.clock.pendingTimers).toBe(0);
  });

  it('that are there no more are not waited for', async () => {
    const kit = setUp(1);
    const { told, over } = reading(kit);
    await settled();
    kit.store.rows.delete('call-0');
    kit.hints.publish('news', 'call-0');
    await over;
    expect(told).toHaveLength(1);
  });
});

describe('slots of those who watch', () => {
  const caller = { id: 'key00001', tenantId: TENANT };
  const asked = (many: number, from = 0) => Array.from({ length: many }, (_, at) => `call-${from + at}`);

  it('are so many for one caller, however many streams it opens', () => {
    const watches = new CallWatches(setUp(0).deps);
    const gone = new AbortController();
    const until = { gone: gone.signal, drain: NEVER };
    const got = [0, 100, 200].map((from) => watches.open(caller, asked(100, from), until).ids.length);
    expect(got).toEqual([100, 100, 0]);
    expect(watches.open({ ...caller, id: 'key00002' }, asked(100), until).ids).toHaveLength(100);
    gone.abort();
    const again = { gone: NEVER, drain: NEVER };
    expect(watches.open(caller, asked(300), again).ids).toHaveLength(200);
  });

  it('are never all of one tenant', () => {
    const watches = new CallWatches(setUp(0).deps);
    const until = { gone: NEVER, drain: NEVER };
    for (let key = 0; key < 10; key += 1)
      watches.open({ tenantId: TENANT, id: `key${key}` }, asked(200), until);
    expect(watches.open({ tenantId: 'other', id: 'key' }, asked(5), until).ids).toHaveLength(5);
  });

  it('are free again once their call has ended', async () => {
    const kit = setUp(200);
    const watches = new CallWatches(kit.deps);
    const { changes } = watches.open(caller, kit.ids, { gone: kit.gone.signal, drain: NEVER });
    const calls = changes[Symbol.asyncIterator]();
    kit.put('call-0', END);
    await calls.next();
    expect(watches.open(caller, asked(5, 500), { gone: NEVER, drain: NEVER }).ids).toEqual(['call-500']);
    kit.gone.abort();
    expect((await calls.next()).done).toBe(true);
  });

  it('count a call once that is named twice, and none for a client that has gone', () => {
    const watches = new CallWatches(setUp(0).deps);
    expect(watches.open(caller, ['a', 'a'], { gone: NEVER, drain: NEVER }).ids).toEqual(['a']);
    const gone = AbortSignal.abort();
    for (let tried = 0; tried < 2; tried += 1) watches.open(caller, asked(200), { gone, drain: NEVER });
    expect(watches.open(caller, asked(300), { gone: NEVER, drain: NEVER }).ids).toHaveLength(199);
  });
});
