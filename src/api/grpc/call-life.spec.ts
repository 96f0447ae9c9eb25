// A call's life: its time limit reaches the core, and so does the caller's leaving, but not twice.
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('turns the deadline into the time that is left', () => {
    expect(lifeOf(new FakeCall(new Date(Date.now() + 5000))).timeoutMs).toBe(5000);
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
    const call = new FakeCall(Date.now() + 1_000);
    const { heard } = listenedTo(call);
    vi.advanceTimersByTime(1_000);
    call.emit('cancelled');
    expect(heard.gone).toBe(false);
  });

  it('tells the core of a caller that leaves before its deadline', () => {
    const call = new FakeCall(Date.now() + 1_000);
    const { heard } = listenedTo(call);
    vi.advanceTimersByTime(900);
    call.emit('cancelled');
    expect(heard.gone).toBe(true);
  });
});
