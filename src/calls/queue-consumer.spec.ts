// QueueConsumer: takes what it has capacity for, in groups, and passes on what it has none for.
import { describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../test/helpers/fake-clock.ts';
import { quietLog } from '../../test/helpers/quiet-log.ts';
import type { CallListener } from '../ports/calls/call-queue.ts';
import { AnswerLost } from '../ports/answer-lost.ts';
import type { ClaimedCall } from '../ports/calls/call-store.ts';
import { QueueConsumer } from './queue-consumer.ts';

/** A look begins in the next turn of the event loop, and one look may lead to another. */
async function soon(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await settled();
}

function setUp({ concurrency = 2, fails = 0, lost = 0, leaseMs = 30_000 } = {}) {
  const held = new Map<string, readonly ClaimedCall[]>();
  const reclaimed: string[] = [];
  const rows: string[] = [];
  const asked: number[] = [];
  const passed: string[] = [];
  const running = new Map<string, () => void>();
  const executing = new Map<string, () => void>();
  const clock = new FakeClock();
  let onCall: CallListener = () => false;
  let listens = 0;
  const consumer = new QueueConsumer(
    {
      store: {
        async claim(owner, _leaseMs, limit) {
          asked.push(limit);
          if (asked.length <= fails) throw new Error('the database is away');
          const claimed = rows.splice(0, limit).map(callOf);
          if (asked.length > lost) return claimed;
          held.set(owner, claimed);
          throw new AnswerLost('UNAVAILABLE', 'the database is away');
        },
        async reclaim(owner) {
          reclaimed.push(owner);
          return held.get(owner) ?? [];
        },
      },
      queue: {
        offer: () => undefined,
        pass: (id) => void passed.push(id),
        start: (listener) => void (onCall = listener),
        listen: () => void (listens += 1),
        stop: () => undefined,
        close: async () => undefined,
      },
      clock,
      log: quietLog,
      random: () => 0.5,
      concurrency,
      leaseMs,
    },
    'me',
    ({ id }, executed) => {
      executing.set(id, executed);
      return new Promise((ended) => running.set(id, ended));
    },
  );
  consumer.start();
  const offer = (id: string, passedOn = false) => {
    rows.push(id);
    return onCall(id, passedOn);
  };
  const ends = (id: string) => {
    running.get(id)?.();
    running.delete(id);
  };
  const isExecuted = (id: string) => executing.get(id)?.();
  const told = { asked, passed, reclaimed, listens: () => listens };
  return { consumer, clock, rows, held, running, offer, ends, isExecuted, ...told };
}

function callOf(id: string): ClaimedCall {
  return {
    id,
    claim: 1,
    kind: 'async',
    tenantId: 'acme',
    tool: 'echo',
    idempotent: true,
    readOnly: true,
    run: 1,
    request: '',
  };
}

describe('QueueConsumer', () => {
  it('takes calls that come together by one claim, and no more than it has capacity for', async () => {
    const { offer, asked, running, passed } = setUp({ concurrency: 3 });
    expect(['a', 'b', 'c', 'd'].map((id) => offer(id))).toEqual([true, true, true, true]);
    await soon();
    expect(asked).toEqual([3]);
    expect([...running.keys()]).toEqual(['a', 'b', 'c']);
    expect(passed).toEqual(['d']);
  });

  it('takes all that it has capacity for when another replica passes one on', async () => {
    const { offer, rows, asked, running } = setUp({ concurrency: 3 });
    rows.push('a', 'b');
    offer('c', true);
    await soon();
    expect(asked).toEqual([3]);
    expect([...running.keys()]).toEqual(['a', 'b', 'c']);
  });

  it('offer no while it is full, and takes what waits when a call ends', async () => {
    const { offer, ends, running, asked } = setUp({ concurrency: 1 });
    offer('a');
    await soon();
    expect(offer('b')).toBe(false);
    ends('a');
    await soon();
    expect([...running.keys()]).toEqual(['b']);
    expect(asked).toEqual([1, 1]);
  });

  it('listens to others only when there is capacity and nothing waits', async () => {
    const { offer, ends, listens } = setUp({ concurrency: 1 });
    offer('a');
    await soon();
    expect(listens()).toBe(0);
    ends('a');
    await soon();
    expect(listens()).toBeGreaterThan(0);
  });

  it('asks for nothing when a call ends and none is known to wait', async () => {
    const { offer, ends, asked } = setUp({ concurrency: 3 });
    offer('a');
    await soon();
    ends('a');
    await soon();
    expect(asked).toEqual([1]);
  });

  it('runs a call in the slot that was reserved for it, and lets no other have the slot', async () => {
    const { consumer, offer, asked, running, ends } = setUp({ concurrency: 1 });
    const slot = consumer.reserve();
    expect(slot?.claim).toEqual({ owner: 'me.1', leaseMs: 30_000 });
    expect(consumer.reserve()).toBeUndefined();
    expect(offer('b')).toBe(false);
    slot?.run(callOf('a'));
    expect([...running.keys()]).toEqual(['a']);
    ends('a');
    await soon();
    expect([...running.keys()]).toEqual(['b']);
    expect(asked).toEqual([1]);
  });

  it('takes what waits into a slot that was given up', async () => {
    const { consumer, offer, running } = setUp({ concurrency: 1 });
    const slot = consumer.reserve();
    offer('a');
    slot?.giveUp(false);
    await soon();
    expect([...running.keys()]).toEqual(['a']);
  });

  it('reserves no slot before one that waits', async () => {
    const { consumer, offer, running, ends } = setUp({ concurrency: 2 });
    offer('a');
    offer('b');
    expect(consumer.reserve()).toBeUndefined();
    await soon();
    expect([...running.keys()]).toEqual(['a', 'b']);
    expect(offer('c')).toBe(false);
    ends('a');
    expect(consumer.reserve()).toBeUndefined();
    await soon();
    expect([...running.keys()]).toEqual(['b', 'c']);
    ends('b');
    await soon();
    expect(consumer.reserve()).toBeDefined();
  });

  it('has capacity again when a call is executed; only so many ends may be in writing', async () => {
    const { consumer, isExecuted, ends } = setUp({ concurrency: 1 });
    consumer.reserve()?.run(callOf('a'));
    expect(consumer.reserve()).toBeUndefined();
    isExecuted('a');
    consumer.reserve()?.run(callOf('b'));
    isExecuted('b');
    expect(consumer.reserve()).toBeUndefined();
    ends('a');
    await soon();
    expect(consumer.reserve()).toBeDefined();
  });

  it('finds what nobody told it of within a second or so, also after a failure', async () => {
    const { rows, clock, running } = setUp({ fails: 1 });
    rows.push('a');
    await clock.advance(1_000);
    await soon();
    expect(running.size).toBe(0);
    await clock.advance(1_000);
    await soon();
    expect([...running.keys()]).toEqual(['a']);
  });

  it('runs what it has claimed although the answer was lost, once, and before anything else', async () => {
    const { rows, clock, running, offer, ends, reclaimed } = setUp({ concurrency: 1, lost: 1 });
    offer('a');
    await soon();
    expect(running.size).toBe(0);
    rows.push('b');
    await clock.advance(1_200);
    await soon();
    expect([...running.keys()]).toEqual(['a']);
    ends('a');
    await clock.advance(5_000);
    await soon();
    expect([...running.keys()]).toEqual(['b']);
    expect(reclaimed).toEqual(['me.1']);
  });

  it('runs a call that was accepted into its slot although the answer was lost', async () => {
    const { consumer, clock, running, held } = setUp();
    const slot = consumer.reserve();
    slot?.giveUp(true);
    await clock.advance(1_200);
    await soon();
    expect(running.size).toBe(0);
    // The statement was on its way still.
    held.set(slot?.claim.owner ?? '', [callOf('a')]);
    await clock.advance(1_200);
    await soon();
    expect([...running.keys()]).toEqual(['a']);
  });

  it('looks for what a lost claim holds no longer than others leave it alone', async () => {
    const { consumer, clock, reclaimed } = setUp({ leaseMs: 0 });
    consumer.reserve()?.giveUp(true);
    for (let second = 0; second < 5; second += 1) {
      await soon();
      await clock.advance(1_200);
    }
    expect(reclaimed).toHaveLength(1);
  });

  it('takes nothing any more once it is stopped', async () => {
    const { consumer, offer, asked, clock } = setUp();
    consumer.stop();
    expect(offer('a')).toBe(false);
    await clock.advance(5_000);
    await soon();
    expect(asked).toEqual([]);
  });
});
