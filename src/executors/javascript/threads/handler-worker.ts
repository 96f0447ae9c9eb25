// HandlerWorker: one worker thread as the gateway sees it: given work, listened to, believed nothing, and ended when need be.
import { randomUUID } from 'node:crypto';
import type { PoolWorker } from '../../../lib/worker-pool/pool-options.ts';
import type { Clock } from '../../../ports/clock.ts';
import { IdleWatch } from './idle-watch.ts';
import {
  LEFTOVERS,
  readBody,
  readMessage,
  readPrinted,
  type FromWorker,
  type HandlerText,
  type PrintedLevel,
  type ToWorker,
} from './messages.ts';
import { PendingCall, type Answer, type CallListener } from './pending-call.ts';
import type { JavascriptSettings } from '../settings.ts';
import type { EndReason, HostedThread, ThreadEnd, ThreadOwner } from './thread-owner.ts';
import type { ThreadHosts } from './thread-hosts.ts';
import { wordsOf } from '../thrown-report.ts';
import { notStarted, outOfMemory, protocolViolation, startTimeout, workerEnded } from './worker-failures.ts';

export interface WorkerOptions {
  readonly settings: JavascriptSettings;
  readonly clock: Clock;
  readonly hosts: ThreadHosts;
  readonly onEnd: (worker: HandlerWorker, reason: EndReason) => void;
  /** A request is over: there is capacity for another. */
  readonly onCapacity: (worker: HandlerWorker) => void;
  /** What nobody's call prints, and what is thrown when its call is over. */
  readonly onStray: (level: PrintedLevel, text: string) => void;
}

export type Request = Extract<ToWorker, { kind: 'call' | 'check' }>;
type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

/** A handler has so long to end a call that nobody waits for any more. */
const CANCEL_GRACE_MS = 250;

export class HandlerWorker implements ThreadOwner, PoolWorker {
  readonly #options: WorkerOptions;
  readonly #thread: HostedThread;
  readonly #pending = new Map<string, PendingCall>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #disarmStart: () => void;
  readonly #idle: IdleWatch;
  readonly #gone = Promise.withResolvers<void>();
  #ended = false;
  /** Its thread is gone; a call in native code can hold it back. */
  readonly gone = this.#gone.promise;
  readonly ready = this.#ready.promise;
  /** What runs in it may have harmed what everything in it shares: no further call. */
  spoiled = false;

  constructor(options: WorkerOptions) {
    const { settings, clock } = options;
    this.#options = options;
    this.ready.catch(() => {});
    this.#disarmStart = clock.after(settings.startTimeoutMs, () =>
      this.kill('start_failed', startTimeout(settings.startTimeoutMs)),
    );
    this.#idle = new IdleWatch(clock, () =>
      this.kill('unresponsive', workerEnded('because a call that was over still ran in it')),
    );
    this.#thread = options.hosts.open(this);
  }

  get ended(): boolean {
    return this.#ended;
  }

  get running(): number {
    return this.#pending.size;
  }

  get awaited(): number {
    let count = 0;
    for (const { abandoned } of this.#pending.values()) if (!abandoned) count += 1;
    return count;
  }

  /** False while its event loop may not turn: it has not heard of a call that was given up. */
  get isSound(): boolean {
    return [...this.#pending.values()].every(({ abandoned, heard }) => heard || !abandoned);
  }

  /** Its event loop has not turned since its last answer. */
  get isSettling(): boolean {
    return !this.#idle.isIdle;
  }

  get keepsOwner(): boolean {
    return this.#idle.hasLeftovers;
  }

  get isFree(): boolean {
    return this.#pending.size === 0;
  }

  load(module: HandlerText): void {
    this.#thread.post({ kind: 'load', module });
  }

  /** Rejects with ToolFailure, or with the signal's reason as soon as it aborts. */
  request(request: WithoutId<Request>, listener: CallListener, signal?: AbortSignal): Promise<Answer> {
    if (this.#ended) return Promise.reject(workerEnded('before the call reached it'));
    const call = new PendingCall(randomUUID(), listener);
    this.#pending.set(call.id, call);
    this.#idle.stopIfIdle();
    this.#thread.post({ ...request, id: call.id });
    if (signal === undefined) return call.answer;
    const onAbort = () => this.#giveUp(call, signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    return call.answer.finally(() => signal.removeEventListener('abort', onAbort));
  }

  /** Ends the thread, whatever it does; every request that is outstanding fails with `failure`. */
  kill(reason: EndReason, failure: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#disarmStart();
    this.#idle.stop();
    this.#thread.end();
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of calls) {
      call.disarm?.();
      call.reject(failure);
    }
    this.#ready.reject(failure);
    this.#options.onEnd(this, reason);
  }

  onMessage(message: unknown): void {
    if (this.#ended) return;
    try {
      this.#handle(readMessage(message, this.#options.settings));
    } catch (error) {
      this.kill('protocol_violation', protocolViolation(error));
    }
  }

  /** The thread has come to its end by itself, or with its process. */
  onEnd(end: ThreadEnd): void {
    switch (end.kind) {
      case 'exhausted':
        return this.#exhausted();
      case 'violation':
        return this.kill('protocol_violation', protocolViolation());
      case 'failed':
        return this.kill('died', workerEnded('with an error', end.why));
      case 'gone':
        return this.kill('died', workerEnded(`unexpectedly (exit code ${end.code})`));
      case 'no_host':
        return this.kill('start_failed', notStarted('No process for worker threads can be started.', end));
      case 'host_ended': {
        const alone = end.blamed && this.#pending.size === 1;
        const failure = alone ? outOfMemory(this.#options.settings.maxMemoryBytes) : workerEnded(end.how);
        return this.kill(end.served ? 'host_died' : 'died', failure);
      }
    }
  }

  onGone(): void {
    this.#gone.resolve();
  }

  /** Its process will take no more threads: it stays until its calls are over. */
  onRetire(): void {
    this.spoiled = true;
    if (!this.#ended) this.#options.onCapacity(this);
  }

  #exhausted(): void {
    const alone = this.#pending.size === 1;
    const failure = alone
      ? outOfMemory(this.#options.settings.maxMemoryBytes)
      : workerEnded('because the calls in it used too much memory together');
    this.kill('out_of_memory', failure);
  }

  #handle(message: FromWorker): void {
    const { kind, id, body } = message;
    this.spoiled ||= message.spoiled;
    if (kind === 'ready') {
      this.#disarmStart();
      return this.#ready.resolve();
    }
    if (kind === 'idle') return this.#heardIdle(body === LEFTOVERS);
    if (id === '') return this.#stray(kind, body);
    const call = this.#pending.get(id);
    // An answer to a cancel may come when the call's own answer has crossed it.
    if (kind === 'cancelling') return call === undefined ? undefined : void (call.heard = true);
    if (call === undefined) throw new Error('something came that belongs to no request');
    if (kind === 'event' || kind === 'printed' || kind === 'step') {
      return call.report(message, (step, reply) => {
        if (this.#pending.has(id)) this.#thread.post({ kind: 'reply', id, step, body: reply });
      });
    }
    this.#forget(call);
    if (this.isFree) this.#idle.begin();
    // Nothing waits for it any more but its own caller.
    call.answered(message)?.catch((error: unknown) => {
      const failure = protocolViolation(error);
      call.reject(failure);
      this.kill('protocol_violation', failure);
    });
    this.#options.onCapacity(this);
  }

  /** With a call on its way to it, only that its event loop turns counts: it says the rest again after that call. */
  #heardIdle(hasLeftovers: boolean): void {
    if (!this.isFree) this.#idle.stop();
    else if (this.#idle.reportedIdle(hasLeftovers)) this.#options.onCapacity(this);
  }

  #stray(kind: FromWorker['kind'], body: string): void {
    if (kind === 'printed') {
      const { level, text } = readPrinted(body);
      return this.#options.onStray(level, text);
    }
    this.#options.onStray('warn', wordsOf(readBody(body)));
    this.#options.onCapacity(this);
  }

  #giveUp(call: PendingCall, reason: Error): void {
    if (!this.#pending.has(call.id)) return;
    call.abandoned = true;
    call.reject(reason);
    const type = 'type' in reason ? String(reason.type) : 'CANCELLED';
    this.#thread.post({ kind: 'cancel', id: call.id, type, message: reason.message });
    call.disarm = this.#options.clock.after(CANCEL_GRACE_MS, () => this.#overdue(call));
  }

  /** A call that ignores its end: its thread ends with it, at once unless others run there undisturbed. */
  #overdue(call: PendingCall): void {
    this.spoiled = true;
    if (call.heard && this.awaited > 0) return;
    this.kill('unresponsive', workerEnded('because another call in it could not be stopped'));
  }

  #forget(call: PendingCall): void {
    call.disarm?.();
    this.#pending.delete(call.id);
  }
}
