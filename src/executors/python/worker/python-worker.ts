// PythonWorker: one worker process, asked several things at a time and believed nothing.
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { encodeFrame, FrameDecoder, FrameTooLarge } from '../../../lib/bytes/frames.ts';
import { isLarge } from '../../../lib/concurrency/in-slices.ts';
import { NotStarted, type PoolWorker } from '../../../lib/worker-pool/pool-options.ts';
import type { ChildProcess, ProcessExit } from '../../../ports/egress/process-spawner.ts';
import { ProtocolViolation, readAnswer, readLargeAnswer, type Answer } from './answer.ts';
import { endedCall, logFlood, outputTooLarge, protocolViolation, workerDied } from './ended-call.ts';
import { readFrame, type WorkerFrame } from './frame-codec.ts';
import { PendingCall, type CallListener } from './pending-call.ts';
import { requestId } from './request-id.ts';
import type { EndReason, WorkerOptions, WorkerRequest } from './worker-options.ts';
import { CallOutput, over, WorkerOutput } from './worker-output.ts';

/** A worker has so long to end a call that nobody waits for any more. */
const CANCEL_GRACE_MS = 250;
/** Id and kind of a frame, and what an answer has around its result. */
const FRAME_EXTRA_BYTES = 1024;

export class PythonWorker implements PoolWorker {
  readonly #child: ChildProcess;
  readonly #options: WorkerOptions<PythonWorker>;
  readonly #decoder: FrameDecoder;
  readonly #output: WorkerOutput;
  readonly #pending = new Map<string, PendingCall>();
  #background: CallOutput;
  #givenUp = 0;
  readonly #over = Promise.withResolvers<void>();
  #closing = false;
  #ended = false;
  #leaving = false;

  /** Settles when the process is gone and what it printed has been read. */
  readonly outputOver: Promise<void>;

  constructor(child: ChildProcess, options: WorkerOptions<PythonWorker>) {
    this.#child = child;
    this.#options = options;
    this.#decoder = new FrameDecoder(options.maxFrameBytes + FRAME_EXTRA_BYTES);
    this.#background = new CallOutput(options.listener);
    this.#output = new WorkerOutput(
      child.stdout,
      child.stderr,
      () => this.#printing(),
      () => this.kill('flooded', logFlood()),
    );
    child.fromChild?.on('data', (chunk: Buffer) => this.#receive(chunk));
    // The process is ending, or tool code closed the channel and no answer can come. `exited` follows either way.
    child.fromChild?.on('end', () => child.kill());
    this.outputOver = child.exited.then(() => over([child.stdout, child.stderr]));
    // One turn of the loop, so that an answer that is already in the pipe still counts.
    void child.exited.then((exit) => setImmediate(() => this.#died(exit)));
  }

  get pid(): number {
    return this.#child.pid;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get running(): number {
    return this.#pending.size;
  }

  get awaited(): number {
    return this.#pending.size;
  }

  /** False: it was told to end a call and has not done so yet. It may be stuck, and about to be ended itself. */
  get isSound(): boolean {
    return this.#givenUp === 0;
  }

  /** It has said that it ends after this call: what the call left behind is best removed with the worker. */
  get spoiled(): boolean {
    return this.#leaving;
  }

  /** Rejects with the signal's reason as soon as it aborts; the worker then ends the call, or is ended itself. */
  request({ head, body = '' }: WorkerRequest, listener: CallListener, signal?: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(workerDied('before the call reached it'));
      const id = requestId();
      const onAbort = () => this.#giveUp(call, signal?.reason);
      const call = new PendingCall(id, listener, this.#options.maxFrameBytes, {
        resolve,
        reject,
        settled: () => signal?.removeEventListener('abort', onAbort),
      });
      this.#pending.set(id, call);
      if (this.#pending.size === 1) this.#background = new CallOutput(this.#options.listener);
      this.#output.begin();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#child.toChild?.write(encodeFrame(`{"id":"${id}",${head}}\n${body}`));
    });
  }

  /** Ends the process group at once; every request that is outstanding fails with `failure`. */
  kill(reason: EndReason, failure: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#child.kill();
    this.#child.fromChild?.destroy();
    this.#child.toChild?.destroy();
    // Only when the process is gone: its last words may still be in these pipes.
    void this.outputOver.then(() => this.#destroyOutput());
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of calls) {
      call.disarm?.();
      call.reject(failure);
    }
    this.#options.onEnd(this, reason);
    this.#over.resolve();
  }

  /** Lets the worker finish what it does and end by itself; kills it when `graceMs` are over. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#child.toChild?.end();
    const die = () => this.kill('closed', workerDied('while the gateway shut down'));
    const disarm = this.#options.clock.after(graceMs, die);
    await this.#over.promise;
    disarm();
    await this.#child.exited;
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      for (const bytes of this.#decoder.push(chunk)) {
        const frame = readFrame(bytes);
        const call = frame && this.#pending.get(frame.id);
        if (frame === undefined || call === undefined)
          throw new ProtocolViolation('something came that belongs to no request');
        this.#handle(frame, call);
        if (this.#ended) return;
      }
    } catch (error) {
      if (error instanceof FrameTooLarge) return this.kill('output_too_large', outputTooLarge(error));
      this.kill('protocol_violation', protocolViolation(error));
    }
  }

  #handle({ kind, content }: WorkerFrame, call: PendingCall): void {
    try {
      if (kind === 'stdout') call.printed('info', content);
      else if (kind === 'stderr') call.printed('warn', content);
      else if (kind === 'leaving') this.#leave(call);
      else if (call.settled) this.#confirm(kind, call);
      else if (kind === 'partial') call.partial(content);
      else if (kind === 'progress') call.progress(content);
      else if (kind === 'ended') this.#settle(call, undefined, endedCall(content));
      else if (isLarge(content)) this.#settleLarge(call, content);
      else this.#settle(call, readAnswer(content));
    } catch (error) {
      this.#breach(kind, call, error);
    }
  }

  /** Comes ahead of the end of the last call that runs: what else was asked has not begun, and never will here. */
  #leave(last: PendingCall): void {
    if (!this.#options.forks)
      throw new ProtocolViolation('a worker that runs calls itself cannot say that it leaves');
    this.#leaving = true;
    for (const call of this.#pending.values()) {
      if (call !== last) this.#forget(call, () => call.reject(new NotStarted()));
    }
  }

  /** Of a call that was given up, only its end is of interest. */
  #confirm(kind: WorkerFrame['kind'], call: PendingCall): void {
    if (kind === 'ended' || kind === 'answer') this.#forget(call);
  }

  #breach(kind: WorkerFrame['kind'], call: PendingCall, error: unknown): void {
    const honest = error instanceof ToolFailure;
    if (!honest && (!this.#options.forks || call.answered)) throw error;
    const failure = honest ? error : protocolViolation(error);
    if (kind === 'answer') this.#settle(call, undefined, failure);
    else this.#giveUp(call, failure);
  }

  #settle(call: PendingCall, answer: Answer | undefined, failure?: unknown): void {
    this.#answered(call, () => (answer === undefined ? call.reject(failure) : call.resolve(answer)));
  }

  /** The worker is done with the call, and may go while its answer is read. */
  #settleLarge(call: PendingCall, content: Buffer): void {
    this.#answered(call, () => {
      const refused = (error: unknown) => {
        const failure = error instanceof ToolFailure ? error : protocolViolation(error);
        call.reject(failure);
        if (failure !== error && !this.#options.forks) this.kill('protocol_violation', failure);
      };
      readLargeAnswer(content).then((answer) => call.resolve(answer), refused);
    });
  }

  /** Throws ProtocolViolation. */
  #answered(call: PendingCall, settle: () => void): void {
    if (call.answered) throw new ProtocolViolation('a request was answered twice');
    call.answered = true;
    // What was given up meanwhile has its reason already.
    const forget = () => this.#forget(call, call.settled ? undefined : settle);
    // A forked call's output came through the channel, ahead of this. What a reused worker's tool wrote to its own
    // descriptors before it answered is readable by now, and is read in this same turn of the event loop.
    if (this.#options.forks) forget();
    else setImmediate(forget);
  }

  #forget(call: PendingCall, settle?: () => void): void {
    if (!this.#pending.delete(call.id)) return;
    if (call.disarm !== undefined) {
      call.disarm();
      this.#givenUp -= 1;
    }
    settle?.();
    this.#options.onCapacity(this);
  }

  #giveUp(call: PendingCall, reason: unknown): void {
    if (call.settled || !this.#pending.has(call.id)) return;
    call.reject(reason);
    this.#child.toChild?.write(encodeFrame(`{"id":"${call.id}","op":"cancel"}\n`));
    this.#givenUp += 1;
    const stuck = workerDied('because it did not end a call that was given up');
    call.disarm = this.#options.clock.after(CANCEL_GRACE_MS, () => this.kill('unresponsive', stuck));
  }

  /** Whose output it is when a worker prints: the call's, if there is but one. */
  #printing(): CallOutput {
    const [only, another] = this.#pending.values();
    return only === undefined || another !== undefined ? this.#background : only.output;
  }

  #died({ code, signal }: ProcessExit): void {
    if (this.#closing) return this.kill('closed', workerDied('while the gateway shut down'));
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    this.kill('died', workerDied(`unexpectedly (${how})`));
  }

  #destroyOutput(): void {
    this.#background.flush();
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }
}
