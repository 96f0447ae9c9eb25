// Flights: one leads, the others wait; the lead goes on when it must, and nobody is left waiting.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Flights, type Landing, type Turn } from './flights.ts';

const never = () => new AbortController().signal;

/** Enters and records the turn when it comes. */
function enter(flights: Flights, signal = never(), mayWait = true) {
  const seen: { turn?: Turn } = {};
  void Promise.resolve(flights.enter('k', signal, mayWait)).then((turn) => (seen.turn = turn));
  return seen;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('Flights', () => {
  it('gives one answer to all who wait', async () => {
    const flights = new Flights();
    const [first, ...others] = [enter(flights), enter(flights), enter(flights)];
    await settle();
    expect([first?.turn?.kind, others[0]?.turn]).toEqual(['lead', undefined]);
    flights.land('k', { kind: 'answer', dataJson: '1' });
    await settle();
    for (const other of others) expect(other.turn).toEqual({ kind: 'answer', dataJson: '1' });
    expect(flights.size).toBe(0);
  });

  it('hands the lead to the next after a failure, and lets all go after the second', async () => {
    const flights = new Flights();
    enter(flights);
    const [second, third, fourth] = [enter(flights), enter(flights), enter(flights)];
    flights.land('k', { kind: 'failed' });
    await settle();
    expect([second.turn?.kind, third.turn]).toEqual(['lead', undefined]);
    flights.land('k', { kind: 'failed' });
    await settle();
    expect([third.turn?.kind, fourth.turn?.kind]).toEqual(['alone', 'alone']);
    expect(flights.size).toBe(0);
  });

  it('does not count leaders who gave up', async () => {
    const flights = new Flights();
    enter(flights);
    const others = Array.from({ length: 5 }, () => enter(flights));
    for (const other of others) {
      flights.land('k', { kind: 'gave_up' });
      await settle();
      expect(other.turn?.kind).toBe('lead');
    }
  });

  it('lets a call go that is aborted while it waits', async () => {
    const flights = new Flights();
    const gone = new AbortController();
    enter(flights);
    const [waiting, behind] = [enter(flights, gone.signal), enter(flights)];
    gone.abort();
    await settle();
    expect(waiting.turn?.kind).toBe('alone');
    flights.land('k', { kind: 'gave_up' });
    await settle();
    expect(behind.turn?.kind).toBe('lead');
  });

  it('never holds up a call that may not wait, nor one that is aborted already', () => {
    const flights = new Flights();
    enter(flights);
    expect(flights.enter('k', never(), false)).toEqual({ kind: 'alone' });
    expect(flights.enter('k', AbortSignal.abort(), true)).toEqual({ kind: 'alone' });
  });

  it('lets a bounded number wait', async () => {
    const flights = new Flights();
    enter(flights);
    for (let index = 0; index < 1_000; index += 1) enter(flights);
    expect(flights.enter('k', never(), true)).toEqual({ kind: 'alone' });
  });

  it('has one leader at most and leaves nobody waiting, whatever happens', async () => {
    const step = fc.oneof(
      fc.constant({ do: 'enter' as const }),
      fc.record({ do: fc.constant('abort' as const), who: fc.nat(20) }),
      fc.record({
        do: fc.constant('land' as const),
        kind: fc.constantFrom<Landing['kind']>('answer', 'failed', 'gave_up', 'unshared'),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const flights = new Flights();
        const calls: { seen: { turn?: Turn }; controller: AbortController; done: boolean }[] = [];
        const leaders = () => calls.filter(({ seen, done }) => seen.turn?.kind === 'lead' && !done);
        const land = (kind: Landing['kind']) => {
          const [leader] = leaders();
          if (leader === undefined) return;
          leader.done = true;
          flights.land('k', { kind, dataJson: '1' });
        };
        for (const each of steps) {
          if (each.do === 'enter') {
            const controller = new AbortController();
            calls.push({ seen: enter(flights, controller.signal), controller, done: false });
          } else if (each.do === 'abort') calls[each.who]?.controller.abort();
          else land(each.kind);
          await settle();
          expect(leaders().length).toBeLessThanOrEqual(1);
          expect(leaders().length).toBe(flights.size);
        }
        while (leaders().length > 0) {
          land('failed');
          await settle();
        }
        expect(calls.filter(({ seen }) => seen.turn === undefined)).toEqual([]);
        expect(flights.size).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
