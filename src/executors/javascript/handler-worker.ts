// HandlerWorker: one worker thread as the gateway sees it: given work, listened to, believed nothing, and ended when need be.
import { randomUUID } from 'node:crypto';
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import type { Clock } from '../../ports/clock.ts';
import {
  readBody,
  readMessage,
  readPrinted,
  type FromWorker,
  type Greeting,
  type HandlerText,
  type PrintedLevel,
  type ToWorker,
} from './messages.ts';
import { PendingCall, type Answer, type CallListener } from './pending-call.ts';
import type { JavascriptSettings } from './settings.ts';
import { wordsOf } from './thrown-report.ts';
import { outOfMemory, protocolViolation, startTimeout, workerEnded } from './worker-failures.ts';

/** Why a thread is no more; also the label of the restart counter. */
export type EndReason =
  'closed' | 'died' | 'out_of_memory' | 'protocol_violation' | 'recycled' | 'start_failed' | 'unresponsive';

export interface WorkerOptions {
  readonly settings: JavascriptSettings;
  readonly clock: Clock;
  readonly onEnd: (worker: HandlerWorker, reason: EndReason) => void;
  /** A request is over: there is room for another. */
  readonly onRoom: (worker: HandlerWorker) => void;
  /** What nobody's call prints, and what is thrown when its call is over. */
  readonly onStray: (level: PrintedLevel, text: string) => void;
}

export type Request = Extract<ToWorker, { kind: 'call' | 'check' }>;
type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

/** The file beside this one, compiled or not. */
const MAIN = new URL(
  import.meta.url.endsWith('.ts') ? './worker/main.ts' : './worker/main.js',
  import.meta.url,
);
/** A handler has so long to end a call that nobody waits for any more. */
const CANCEL_GRACE_MS = 250;
const MIB = 1024 * 1024;
/** V8 ends the whole process when one allocation goes far beyond this: our own limit must come long before it. */
const HEAP_CEILING_MB = 1024;
const YOUNG_GENERATION_MB = 16;

export class HandlerWorker {
  readonly #options: WorkerOptions;
  readonly #thread: Worker;
  readonly #port: MessagePort;
  readonly #pending = new Map<string, PendingCall>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #disarmStart: () => void;
  #ended = false;
  #measuring = false;
  /** Its thread is gone; a call in native code can hold it back. */
  readonly gone: Promise<void>;
  readonly ready: Promise<void>;
  /** What runs in it may have harmed what everything in it shares: no further call. */
  spoiled = false;

  constructor(options: WorkerOptions) {
    const { settings, clock } = options;
    this.#options = options;
    this.#thread = new Worker(MAIN, {
      env: {},
      argv: [],
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: {
        maxOldGenerationSizeMb: Math.max(HEAP_CEILING_MB, (settings.maxMemoryBytes / MIB) * 4),
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
    });
    this.ready = this.#ready.promise;
    this.ready.catch(() => {});
    this.gone = new Promise((resolve) => this.#thread.once('exit', () => resolve()));
    this.#disarmStart = clock.after(settings.startTimeoutMs, () =>
      this.kill('start_failed', startTimeout(settings.startTimeoutMs)),
    );
    this.#listen();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', (message: unknown) => this.#receive(message));
    port1.unref();
    const greeting: Greeting = { port: port2, limits: { maxMessageBytes: settings.maxMessageBytes } };
    this.#thread.postMessage(greeting, [port2]);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Calls that somebody waits for. */
  get inFlight(): number {
    let count = 0;
    for (const { abandoned } of this.#pending.values()) if (!abandoned) count += 1;
    return count;
  }

  /** Nothing runs in it, as far as it says. */
  get isFree(): boolean {
    return this.#pending.size === 0;
  }

  load(module: HandlerText): void {
    this.#post({ kind: 'load', module });
  }

  /** Rejects with ToolFailure, or with the signal's reason as soon as it aborts. */
  request(request: WithoutId<Request>, listener: CallListener, signal?: AbortSignal): Promise<Answer> {
    if (this.#ended) return Promise.reject(workerEnded('before the call reached it'));
    const call = new PendingCall(randomUUID(), listener);
    if (this.isFree) this.#thread.ref();
    this.#pending.set(call.id, call);
    this.#post({ ...request, id: call.id });
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
    this.#port.close();
    void this.#thread.terminate();
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of calls) {
      call.disarm?.();
      call.reject(failure);
    }
    this.#ready.reject(failure);
    this.#options.onEnd(this, reason);
  }

  /** Heap and buffers; the limit that V8 itself has for threads knows nothing of buffers, and is no soft one. */
  async checkMemory(): Promise<void> {
    if (this.#measuring || this.#ended) return;
    this.#measuring = true;
    const { maxMemoryBytes } = this.#options.settings;
    try {
      const { used_heap_size: heap, external_memory: buffers } = await this.#thread.getHeapStatistics();
      if (heap + buffers > maxMemoryBytes) this.#exhausted();
    } catch {
      // It has ended, or has not begun.
    } finally {
      this.#measuring = false;
    }
  }

  #exhausted(): void {
    const alone = this.#pending.size === 1;
    const failure = alone
      ? outOfMemory(this.#options.settings.maxMemoryBytes)
      : workerEnded('because the calls in it used too much memory together');
    this.kill('out_of_memory', failure);
  }

  #listen(): void {
    this.#thread.stdout.resume();
    this.#thread.stderr.resume();
    this.#thread.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#exhausted();
      else this.kill('died', workerEnded('with an error', error));
    });
    this.#thread.once('exit', (code) => this.kill('died', workerEnded(`unexpectedly (exit code ${code})`)));
  }

  #receive(message: unknown): void {
    if (this.#ended) return;
    try {
      this.#handle(readMessage(message, this.#options.settings));
    } catch (error) {
      this.kill('protocol_violation', protocolViolation(error));
    }
  }

  #handle(message: FromWorker): void {
    const { kind, id, body } = message;
    this.spoiled ||= message.spoiled;
    if (kind === 'ready') {
      this.#disarmStart();
      // An idle thread keeps no process alive.
      if (this.isFree) this.#thread.unref();
      return this.#ready.resolve();
    }
    if (id === '') return this.#stray(kind, body);
    const call = this.#pending.get(id);
    // An answer to a cancel may come when the call's own answer has crossed it.
    if (kind === 'cancelling') return call === undefined ? undefined : void (call.heard = true);
    if (call === undefined) throw new Error('something came that belongs to no request');
    if (kind === 'event' || kind === 'printed' || kind === 'step') {
      return call.report(message, (step, reply) => {
        if (this.#pending.has(id)) this.#post({ kind: 'reply', id, step, body: reply });
      });
    }
    this.#forget(call);
    call.answered(message);
    this.#options.onRoom(this);
  }

  #stray(kind: FromWorker['kind'], body: string): void {
    if (kind === 'printed') {
      const { level, text } = readPrinted(body);
      return this.#options.onStray(level, text);
    }
    this.#options.onStray('warn', wordsOf(readBody(body)));
    this.#options.onRoom(this);
  }

  #giveUp(call: PendingCall, reason: Error): void {
    if (!this.#pending.has(call.id)) return;
    call.abandoned = true;
    call.reject(reason);
    const type = 'type' in reason ? String(reason.type) : 'CANCELLED';
    this.#post({ kind: 'cancel', id: call.id, type, message: reason.message });
    call.disarm = this.#options.clock.after(CANCEL_GRACE_MS, () => this.#overdue(call));
  }

  /** A call that ignores its end: its thread ends with it, at once unless others run there undisturbed. */
  #overdue(call: PendingCall): void {
    this.spoiled = true;
    if (call.heard && this.inFlight > 0) return;
    this.kill('unresponsive', workerEnded('because another call in it could not be stopped'));
  }

  #forget(call: PendingCall): void {
    call.disarm?.();
    this.#pending.delete(call.id);
    if (this.isFree) this.#thread.unref();
  }

  #post(message: ToWorker): void {
    this.#port.postMessage(message);
  }
}
