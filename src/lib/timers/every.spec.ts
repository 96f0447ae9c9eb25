import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { every, type Round } from './every.ts';

const unexpected = (error: unknown): void => {
  throw error;
};

function counted(round: Round, failed = unexpected, period = { ms: 100 }) {
  const clock = new FakeClock();
  const told = { rounds: 0 };
  const work: Round = () => {
    told.rounds += 1;
    return round();
  };
  return { clock, told, repeated: every(clock, period, work, failed) };
}

describe('every', () => {
  it('begins after a pause, and each round a pause after the last one has ended', async () => {
    let end: () => void = () => undefined;
    const { clock, told } = counted(() => new Promise<void>((resolve) => (end = resolve)));
    expect(told.rounds).toBe(0);
    await clock.advance(100);
    expect(told.rounds).toBe(1);
    await clock.advance(1_000);
    expect(told.rounds).toBe(1);
    end();
    await clock.advance(99);
    expect(told.rounds).toBe(1);
    await clock.advance(1);
    expect(told.rounds).toBe(2);
  });

  it('goes on after a round that threw, and tells of it', async () => {
    const errors: unknown[] = [];
    const fault = new Error('not this time');
    const { clock, told } = counted(
      () => Promise.reject(fault),
      (error) => void errors.push(error),
    );
    await clock.advance(100);
    await clock.advance(100);
    expect(told.rounds).toBe(2);
    expect(errors).toEqual([fault, fault]);
  });

  it('comes sooner where the round says so, once', async () => {
    const pauses = [5, undefined];
    const { clock, told } = counted(async () => pauses.shift());
    await clock.advance(100);
    await clock.advance(5);
    expect(told.rounds).toBe(2);
    await clock.advance(99);
    expect(told.rounds).toBe(2);
    await clock.advance(1);
    expect(told.rounds).toBe(3);
  });

  it('is up to a share earlier or later, as chance says', async () => {
    for (const [random, ms] of [
      [0, 90],
      [0.5, 100],
      [1, 110],
    ] as const) {
      const clock = new FakeClock();
      let rounds = 0;
      every(clock, { ms: 100, jitter: 0.1, random: () => random }, () => void (rounds += 1), unexpected);
      await clock.advance(ms - 1);
      expect(rounds).toBe(0);
      await clock.advance(1);
      expect(rounds).toBe(1);
    }
  });

  it('has ended with the round under way once it is stopped, and begins no other', async () => {
    let end: () => void = () => undefined;
    const { clock, told, repeated } = counted(() => new Promise<void>((resolve) => (end = resolve)));
    await clock.advance(100);
    let isOver = false;
    const stopping = repeated.stop().then(() => (isOver = true));
    await clock.advance(1_000);
    expect(isOver).toBe(false);
    end();
    await stopping;
    await clock.advance(1_000);
    expect(told.rounds).toBe(1);
  });
});
