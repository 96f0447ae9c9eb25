// A call's life: its time limit reaches the core, and so does the caller's leaving, but not twice.
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { lifeOf } from './call-life.ts';

class FakeCall extends EventEmitter {
  cancelled = false;
  readonly #deadline: number | Date;

  constructor(deadline: number | Date) {
    super();
    this.#deadline = deadline;
  }

  getDeadline(): number | Date {
    return this.#deadline;
  }
}

/** Tells whether the core would have been told that the caller went away. */
function listenedTo(call: FakeCall) {
  const life = lifeOf(call);
  const heard = { gone: false };
  life.whenGone(() => void (heard.gone = true));
  return { ...life, heard };
}

describe('call life', () => {
  it('turns the deadline into the time that is left', () => {
    const { timeoutMs } = lifeOf(new FakeCall(new Date(Date.now() + 5000)));
    expect(timeoutMs).toBeGreaterThan(4000);
    expect(timeoutMs).toBeLessThanOrEqual(5000);
    expect(lifeOf(new FakeCall(Number.POSITIVE_INFINITY)).timeoutMs).toBeUndefined();
    expect(lifeOf(new FakeCall(Date.now() - 50)).timeoutMs).toBe(0);
  });

  it('aborts when the caller goes away, before or after the call began', () => {
    const call = new FakeCall(Number.POSITIVE_INFINITY);
    const { heard } = listenedTo(call);
    expect(heard.gone).toBe(false);
    call.emit('cancelled');
    expect(heard.gone).toBe(true);
    const gone = new FakeCall(Number.POSITIVE_INFINITY);
    gone.cancelled = true;
    expect(listenedTo(gone).heard.gone).toBe(true);
  });

  it('does not abort a call that was answered when its stream closes', () => {
    const call = new FakeCall(Number.POSITIVE_INFINITY);
    const { heard, settle } = listenedTo(call);
    settle();
    call.emit('cancelled');
    expect(heard.gone).toBe(false);
  });

  it('leaves a deadline to the core, which calls it TIMEOUT and not CANCELLED', () => {
    const call = new FakeCall(Date.now() - 1);
    const { heard } = listenedTo(call);
    call.emit('cancelled');
    expect(heard.gone).toBe(false);
  });
});
