// CallIntake: takes what it has room for, in groups, and passes on what it has none for.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../test/helpers/quiet-log.ts';
import type { ClaimedCall } from '../../ports/call-store.ts';
import { CallIntake } from './call-intake.ts';

const soon = () => new Promise<void>((done) => void setTimeout(done, 5));

function setUp({ concurrency = 2, fails = 0 } = {}) {
  const rows: string[] = [];
  const asked: number[] = [];
  const passed: string[] = [];
  const running = new Map<string, () => void>();
  const clock = new FakeClock();
  let hear: (id: string) => boolean = () => false;
  let listens = 0;
  const intake = new CallIntake(
    {
      store: {
        async claim(_owner, _leaseMs, limit) {
          asked.push(limit);
          if (asked.length <= fails) throw new Error('the database is away');
          return rows.splice(0, limit).map(callOf);
        },
      },
      queue: {
        offer: () => undefined,
        pass: (id) => void passed.push(id),
        start: (listener) => void (hear = listener),
        listen: () => void (listens += 1),
        stop: () => undefined,
        close: async () => undefined,
      },
      clock,
      log: quietLog,
      random: () => 0.5,
      awake: () => true,
      concurrency,
      leaseMs: 30_000,
    },
    'me',
    ({ id }) => new Promise((ended) => running.set(id, ended)),
  );
  intake.start();
  const says = (id: string) => {
    rows.push(id);
    return hear(id);
  };
  const ends = (id: string) => {
    running.get(id)?.();
    running.delete(id);
  };
  return { intake, clock, rows, asked, passed, running, says, ends, listens: () => listens };
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

describe('CallIntake', () => {
  it('takes calls that come together by one claim, and no more than it has room for', async () => {
    const { says, asked, running, passed } = setUp({ concurrency: 3 });
    expect(['a', 'b', 'c', 'd'].map(says)).toEqual([true, true, true, true]);
    await soon();
    expect(asked).toEqual([3]);
    expect([...running.keys()]).toEqual(['a', 'b', 'c']);
    expect(passed).toEqual(['d']);
  });

  it('says no while it is full, and takes what waits when a call ends', async () => {
    const { says, ends, running, asked } = setUp({ concurrency: 1 });
    says('a');
    await soon();
    expect(says('b')).toBe(false);
    ends('a');
    await soon();
    expect([...running.keys()]).toEqual(['b']);
    expect(asked).toEqual([1, 1]);
  });

  it('listens to others only when there is room and nothing waits', async () => {
    const { says, ends, listens } = setUp({ concurrency: 1 });
    says('a');
    await soon();
    expect(listens()).toBe(0);
    ends('a');
    await soon();
    expect(listens()).toBe(1);
  });

  it('asks for nothing when a call ends and none is known to wait', async () => {
    const { says, ends, asked } = setUp({ concurrency: 3 });
    says('a');
    await soon();
    ends('a');
    await soon();
    expect(asked).toEqual([3]);
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

  it('takes nothing any more once it is stopped', async () => {
    const { intake, says, asked, clock } = setUp();
    intake.stop();
    expect(says('a')).toBe(false);
    await clock.advance(5_000);
    await soon();
    expect(asked).toEqual([]);
  });
});
