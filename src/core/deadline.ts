// Deadline: one AbortSignal per call, aborted by time, by a caller who went away, or by the end of the drain.
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { CallProgress, ToolCall, ToolRequest } from '../contract/call/tool-call.ts';
import type { RegistrySnapshot } from '../contract/tool/registry-snapshot.ts';
import type { Clock } from '../ports/clock.ts';

/** A step of a call that has begun and not ended: given up when the call's time is over and it does not end by itself. */
export interface Step {
  /** The step that waits for it. */
  outer: Step | undefined;
  /** It waits for what it wraps, or did. */
  readonly hasAskedInside: boolean;
  giveUp(reason: ToolFailure): void;
  /** Says so if it still goes on. */
  reportLate(): void;
}

/** Once the call's time is over, each step has so long, and twice that at most, to end by itself. */
const GRACE_MS = 500;

export class Deadline {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #caller: AbortSignal | undefined;
  readonly #onCallerGone: () => void;
  #disarm: (() => void) | undefined;
  #giveUp: ((reason: ToolFailure) => void) | undefined;
  #endsAt: number | undefined;

  /** Of the steps that have begun and not ended. */
  #innermost: Step | undefined;
  #over = false;

  constructor(clock: Clock, { signal, whenGone }: Pick<ToolRequest, 'signal' | 'whenGone'>) {
    this.#clock = clock;
    this.#caller = signal;
    this.#onCallerGone = () => {
      if (!this.#over) this.abort(new ToolFailure('CANCELLED', 'The caller cancelled the call.'));
    };
    whenGone?.(this.#onCallerGone);
    if (signal?.aborted) this.#onCallerGone();
    else signal?.addEventListener('abort', this.#onCallerGone, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isArmed(): boolean {
    return this.#disarm !== undefined;
  }

  /** By `Clock.now()`; undefined until it is armed. */
  get endsAt(): number | undefined {
    return this.#endsAt;
  }

  /** Aborts with TIMEOUT after `remainingMs`, or with what `stalled` knows the call to wait for; no more when an earlier `arm` said. */
  arm(remainingMs: number, limitMs: number, stalled: () => ToolFailure | undefined = () => undefined): void {
    if (this.#over || this.signal.aborted) return;
    this.#disarm?.();
    this.#endsAt = this.#clock.now() + remainingMs;
    this.#disarm = this.#clock.after(Math.max(0, remainingMs), () =>
      this.abort(stalled() ?? timedOut(limitMs)),
    );
  }

  abort(reason: ToolFailure): void {
    if (this.signal.aborted) return;
    this.#controller.abort(reason);
    this.#giveUp?.(reason);
    const step = this.#innermost;
    // One that has not come to what it wraps has nothing to finish.
    if (step !== undefined && !step.hasAskedInside) this.#abandon(step, reason);
    this.#watch(reason, this.#innermost);
  }

  enter(step: Step): void {
    step.outer = this.#innermost;
    this.#innermost = step;
  }

  leave(step: Step): void {
    // Steps inside of one that has ended are waited for by nobody.
    for (let each = this.#innermost; each !== undefined; each = each.outer) {
      if (each === step) {
        this.#innermost = step.outer;
        return;
      }
    }
  }

  /** It waits for nothing any more, while what it wraps goes on. */
  remove(step: Step): void {
    if (this.#innermost === step) {
      this.#innermost = step.outer;
      return;
    }
    for (let each = this.#innermost; each !== undefined; each = each.outer) {
      if (each.outer === step) {
        each.outer = step.outer;
        return;
      }
    }
  }

  #abandon(step: Step, reason: ToolFailure): void {
    step.giveUp(reason);
    this.#clock.after(GRACE_MS, () => step.reportLate());
  }

  /** From the inside out: what has not ended since the last look is given up. */
  #watch(reason: ToolFailure, seen: Step | undefined): void {
    if (this.#over) return;
    this.#disarm?.();
    this.#disarm = this.#clock.after(GRACE_MS, () => {
      const step = this.#innermost;
      if (step !== undefined && step === seen) this.#abandon(step, reason);
      this.#watch(reason, step);
    });
  }

  /**
   * Settles with the promise, or rejects with the reason as soon as the call is aborted: nobody is waited for.
   * One race at a time. Listening to the signal would do the same at ten times the cost.
   */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      promise.then(resolve, reject);
      if (this.signal.aborted) reject(this.signal.reason as Error);
      else this.#giveUp = reject;
    });
  }

  /**
   * Call at the end of the call: no timer and no listener stays behind, and nothing here leads to the call any more. The
   * deadline itself may outlive it until the next full collection, and took 7 kB of request and answer along.
   */
  clear(): void {
    this.#over = true;
    this.#disarm?.();
    this.#disarm = undefined;
    this.#giveUp = undefined;
    this.#caller?.removeEventListener('abort', this.#onCallerGone);
  }
}

function timedOut(limitMs: number): ToolFailure {
  const message = `The call did not finish within ${limitMs} ms.`;
  return new ToolFailure('TIMEOUT', message, { details: { limit_ms: limitMs } });
}

/** A call's progress as the core makes it: with what only the core may touch. */
export interface TimedProgress extends CallProgress {
  readonly deadline: Deadline;
  /** The call's set of tools, ready to be called. */
  readonly tools: RegistrySnapshot;
  /** When the innermost step that is done was left, on the monotonic clock. */
  leftAt: number;
  /** When the step that begins now was asked for; 0 once that was read. Asking the clock costs more than passing it on. */
  askedAt: number;
}

export function stampAsked(call: ToolCall, now: number): void {
  (call.progress as TimedProgress).askedAt = now;
}

export function enteredAt(call: ToolCall): number {
  const progress = call.progress as Partial<TimedProgress>;
  const at = progress.askedAt;
  if (at === undefined || at === 0) return performance.now();
  progress.askedAt = 0;
  return at;
}

export function leftAt(call: ToolCall): number {
  return (call.progress as TimedProgress).leftAt;
}

export function stampLeft(call: ToolCall, now: number): void {
  (call.progress as TimedProgress).leftAt = now;
}

/** Only for calls that UnifiedToolExecutor opened. */
export function deadlineOf(call: ToolCall): Deadline {
  return (call.progress as TimedProgress).deadline;
}

/** Only for calls that UnifiedToolExecutor opened. */
export function toolsOf(call: ToolCall): RegistrySnapshot {
  return (call.progress as TimedProgress).tools;
}

/** Undefined for calls that something else opened. */
export function deadlineIn(call: ToolCall): Deadline | undefined {
  return (call.progress as Partial<TimedProgress>).deadline;
}

/** Settles with the promise, or rejects with the reason as soon as the call is aborted, also by a signal that an extension gave it. */
export function raceCall<T>(call: ToolCall, promise: Promise<T>): Promise<T> {
  const deadline = deadlineOf(call);
  const { signal } = call;
  if (signal === deadline.signal) return deadline.race(promise);
  return new Promise<T>((resolve, reject) => {
    const giveUp = () => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
