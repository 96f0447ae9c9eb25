// SingleFlight: one leads, the others wait; the lead goes on when it must, and nobody is left waiting.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SingleFlight, type Outcome, type Role } from './single-flight.ts';

const never = () => new AbortController().signal;

/** Enters and records its role when it is known. */
function enter(singleFlight: SingleFlight, signal = never(), mayWait = true) {
  const seen: { role?: Role } = {};
  void Promise.resolve(singleFlight.enter('k', signal, mayWait)).then((role) => (seen.role = role));
  return seen;
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('SingleFlight', () => {
  it('gives one answer to all who wait', async () => {
    const singleFlight = new SingleFlight();
    const [first, ...others] = [enter(singleFlight), enter(singleFlight), enter(singleFlight)];
    await tick();
    expect([first?.role?.kind, others[0]?.role]).toEqual(['lead', undefined]);
    singleFlight.settle('k', { kind: 'answer', dataJson: '1' });
    await tick();
    for (const other of others) expect(other.role).toEqual({ kind: 'answer', dataJson: '1' });
    expect(singleFlight.size).toBe(0);
  });

  it('hands the lead to the next after a failure, and lets all go after the second', async () => {
    const singleFlight = new SingleFlight();
    enter(singleFlight);
    const [second, third, fourth] = [enter(singleFlight), enter(singleFlight), enter(singleFlight)];
    singleFlight.settle('k', { kind: 'failed' });
    await tick();
    expect([second.role?.kind, third.role]).toEqual(['lead', undefined]);
    singleFlight.settle('k', { kind: 'failed' });
    await tick();
    expect([third.role?.kind, fourth.role?.kind]).toEqual(['alone', 'alone']);
    expect(singleFlight.size).toBe(0);
  });

  it('does not count leaders who gave up', async () => {
    const singleFlight = new SingleFlight();
    enter(singleFlight);
    const others = Array.from({ length: 5 }, () => enter(singleFlight));
    for (const other of others) {
      singleFlight.settle('k', { kind: 'gave_up' });
      await tick();
      expect(other.role?.kind).toBe('lead');
    }
  });

  it('lets a call go that is aborted while it waits', async () => {
    const singleFlight = new SingleFlight();
    const gone = new AbortController();
    enter(singleFlight);
    const [waiting, behind] = [enter(singleFlight, gone.signal), enter(singleFlight)];
    gone.abort();
    await tick();
    expect(waiting.role?.kind).toBe('alone');
    singleFlight.settle('k', { kind: 'gave_up' });
    await tick();
    expect(behind.role?.kind).toBe('lead');
  });

  it('never holds up a call that may not wait, nor one that is aborted already', () => {
    const singleFlight = new SingleFlight();
    enter(singleFlight);
    expect(singleFlight.enter('k', never(), false)).toEqual({ kind: 'alone' });
    expect(singleFlight.enter('k', AbortSignal.abort(), true)).toEqual({ kind: 'alone' });
  });

  it('lets a bounded number wait', async () => {
    const singleFlight = new SingleFlight();
    enter(singleFlight);
    for (let index = 0; index < 1_000; index += 1) enter(singleFlight);
    expect(singleFlight.enter('k', never(), true)).toEqual({ kind: 'alone' });
  });

  it('has one leader at most and leaves nobody waiting, whatever happens', async () => {
    const step = fc.oneof(
      fc.constant({ do: 'enter' as const }),
      fc.record({ do: fc.constant('abort' as const), who: fc.nat(20) }),
      fc.record({
        do: fc.constant('settle' as const),
        kind: fc.constantFrom<Outcome['kind']>('answer', 'failed', 'gave_up', 'unshared'),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const singleFlight = new SingleFlight();
        const calls: { seen: { role?: Role }; controller: AbortController; done: boolean }[] = [];
        const leaders = () => calls.filter(({ seen, done }) => seen.role?.kind === 'lead' && !done);
        const settle = (kind: Outcome['kind']) => {
          const [leader] = leaders();
          if (leader === undefined) return;
          leader.done = true;
          singleFlight.settle('k', { kind, dataJson: '1' });
        };
        for (const each of steps) {
          if (each.do === 'enter') {
            const controller = new AbortController();
            calls.push({ seen: enter(singleFlight, controller.signal), controller, done: false });
          } else if (each.do === 'abort') calls[each.who]?.controller.abort();
          else settle(each.kind);
          await tick();
          expect(leaders().length).toBeLessThanOrEqual(1);
          expect(leaders().length).toBe(singleFlight.size);
        }
        while (leaders().length > 0) {
          settle('failed');
          await tick();
        }
        expect(calls.filter(({ seen }) => seen.role === undefined)).toEqual([]);
        expect(singleFlight.size).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
