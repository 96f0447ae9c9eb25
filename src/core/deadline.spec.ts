// Racing a call: nobody waits for work whose call is over, by the call's own signal or by one that an extension gave it.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setImmediate as yieldToLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { callOf } from '../../test/helpers/call-kit.ts';
import { FakeClock } from '../../test/helpers/fake-clock.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { Deadline, raceCall } from './deadline.ts';

const collect = exposedGc();

const never = new Promise<never>(() => undefined);
const late = new ToolFailure('TIMEOUT', 'Too late.');

function timedCall() {
  const deadline = new Deadline(new FakeClock(), {});
  const call = callOf({ signal: deadline.signal });
  return { deadline, call: { ...call, progress: { ...call.progress, deadline } } };
}

describe('raceCall', () => {
  it('ends with the work when that is in time', async () => {
    const { call } = timedCall();
    const narrowed = { ...call, signal: new AbortController().signal };
    expect(await raceCall(call, Promise.resolve(1))).toBe(1);
    expect(await raceCall(narrowed, Promise.resolve(2))).toBe(2);
    await expect(raceCall(narrowed, Promise.reject(late))).rejects.toBe(late);
  });

  it("ends with the call's deadline", async () => {
    const { deadline, call } = timedCall();
    const race = raceCall(call, never);
    deadline.abort(late);
    await expect(race).rejects.toBe(late);
  });

  it("ends with an extension's own signal, before it or while it lasts, and the call goes on", async () => {
    const { deadline, call } = timedCall();
    const own = new AbortController();
    const narrowed = { ...call, signal: AbortSignal.any([call.signal, own.signal]) };
    const race = raceCall(narrowed, never);
    own.abort(late);
    await expect(race).rejects.toBe(late);
    await expect(raceCall(narrowed, never)).rejects.toBe(late);
    expect(deadline.signal.aborted).toBe(false);
  });

  it("ends with the deadline behind an extension's signal as well", async () => {
    const { deadline, call } = timedCall();
    const own = new AbortController();
    const race = raceCall({ ...call, signal: AbortSignal.any([call.signal, own.signal]) }, never);
    deadline.abort(late);
    await expect(race).rejects.toBe(late);
  });
});

describe('clear', () => {
  it('lets go of everything that leads to the call, while something still holds its deadline', async () => {
    const deadline = new Deadline(new FakeClock(), {});
    const call = callHeldBy(deadline);
    collect();
    expect(call.deref()).toBeDefined();
    deadline.clear();
    // What a WeakRef gave is kept until this turn of the event loop ends.
    await yieldToLoop();
    collect();
    expect(call.deref()).toBeUndefined();
  });
});

function callHeldBy(deadline: Deadline): WeakRef<object> {
  const call = { stalled: () => late };
  deadline.arm(1000, 1000, () => call.stalled());
  void deadline.race(new Promise(() => undefined)).catch(() => call);
  return new WeakRef(call);
}

function exposedGc(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
