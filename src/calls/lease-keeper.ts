// LeaseKeeper: renews what this replica runs, hears of what is to be cancelled, and looks after what others left behind.
import type { CallHints } from '../ports/calls/call-hints.ts';
import type { CallStore } from '../ports/calls/call-store.ts';
import { every, type Repeated } from '../lib/timers/every.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { CallQueue } from '../ports/calls/call-queue.ts';
import type { AsyncSeries } from './async-metrics.ts';
import type { RunningCall } from './running-call.ts';

export interface LeaseDeps {
  readonly store: CallStore;
  readonly queue: CallQueue;
  readonly hints: CallHints;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly series: AsyncSeries;
  /** Runs after a call has ended, whoever ended it. */
  readonly ended: () => void;
  readonly leaseMs: number;
}

/** Runs of one call, owners lost in between. */
const MAX_RUNS = 3;
const SWEEP_MS = 2_000;

export class LeaseKeeper {
  readonly #deps: LeaseDeps;
  readonly #running: ReadonlyMap<string, RunningCall>;
  readonly #rounds: Repeated[] = [];
  #unsubscribe: (() => void) | undefined;
  #renewing: Promise<void> | undefined;

  constructor(deps: LeaseDeps, running: ReadonlyMap<string, RunningCall>) {
    this.#deps = deps;
    this.#running = running;
  }

  start(): void {
    const { hints, leaseMs } = this.#deps;
    this.#every(leaseMs / 3, () => this.#renew());
    this.#every(SWEEP_MS, () => this.#sweep());
    this.#unsubscribe = hints.subscribe((hint, callId) => {
      // A hint proves nothing: the renewal brings what the row says.
      if (hint === 'cancel' && this.#running.has(callId)) void this.#renew();
    });
  }

  stop(): void {
    this.#unsubscribe?.();
    for (const round of this.#rounds) void round.stop();
  }

  #every(ms: number, task: () => Promise<void>): void {
    const { clock, random, log } = this.#deps;
    const failed = (error: unknown) =>
      log.error({ err: error }, 'leases of running calls could not be looked after: it is tried again');
    this.#rounds.push(every(clock, { ms, jitter: 0.1, random }, task, failed));
  }

  /** One at a time; whoever asks meanwhile gets one that begins after the asking. */
  async #renew(): Promise<void> {
    while (this.#renewing !== undefined) await this.#renewing;
    this.#renewing = this.#renewAll();
    await this.#renewing;
    this.#renewing = undefined;
  }

  async #renewAll(): Promise<void> {
    const asked = [...this.#running.values()];
    if (asked.length === 0) return;
    const { store, leaseMs, log } = this.#deps;
    const askedAt = performance.now();
    try {
      const claims = asked.map(({ call: { id, claim } }) => ({ id, claim }));
      const held = new Map((await store.renew(claims, leaseMs)).map((claim) => [claim.id, claim]));
      for (const running of asked) this.#settle(running, held.get(running.call.id)?.cancelRequested, askedAt);
    } catch (error) {
      log.warn(
        { calls: asked.length, err: error },
        'leases of running calls could not be renewed: another replica settles these calls if that goes on',
      );
      for (const running of asked) {
        if (performance.now() - running.renewedAt > (leaseMs * 5) / 6) this.#lose(running);
      }
    }
  }

  #settle(running: RunningCall, cancelRequested: boolean | undefined, renewedAt: number): void {
    if (cancelRequested === undefined) return this.#lose(running);
    running.renewedAt = renewedAt;
    if (cancelRequested) running.cancel();
  }

  /** A call that has just ended is not held any more either. */
  #lose(running: RunningCall): void {
    const { id, tool } = running.call;
    if (running.ending || this.#running.get(id) !== running) return;
    this.#deps.log.warn(
      { callId: id, tool },
      'the lease of a running call was lost: its outcome here does not count any more',
    );
    running.lose();
  }

  async #sweep(): Promise<void> {
    const { store, queue, log, series, hints, ended } = this.#deps;
    try {
      for (const { id, status } of await store.sweep(MAX_RUNS)) {
        log.warn(
          { callId: id, status },
          'a call was settled whose replica was lost, or that waited too long: status says what became of it',
        );
        if (status === 'queued') queue.offer(id);
        else if (status !== 'running' && status !== 'waiting_approval') series.ended(status);
        hints.publish('news', id);
        ended();
      }
    } catch (error) {
      log.warn({ err: error }, 'calls whose replica was lost could not be looked for: it is tried again');
    }
  }
}
