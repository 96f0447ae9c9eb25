// PythonWorker: one worker process, asked one thing at a time and believed nothing.
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChildProcess, ProcessExit } from '../../ports/process-spawner.ts';
import { ProtocolViolation, readAnswer, type Answer } from './answer.ts';
import { encodeFrame, FrameDecoder, FrameTooLarge } from './frame-codec.ts';
import { requestId } from './request-id.ts';
import { WorkerOutput, type LineListener } from './worker-output.ts';

/** Why a worker is no more; also the label of the restart counter. */
export type EndReason =
  'aborted' | 'closed' | 'died' | 'flooded' | 'output_too_large' | 'protocol_violation' | 'start_timeout';

interface Outstanding {
  readonly id: string;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export interface WorkerLimits {
  readonly maxFrameBytes: number;
}

const LAST_WORDS_MS = 200;

export class PythonWorker {
  readonly #child: ChildProcess;
  readonly #decoder: FrameDecoder;
  readonly #output: WorkerOutput;
  readonly #onEnd: (worker: PythonWorker, reason: EndReason) => void;
  #outstanding: Outstanding | undefined;
  readonly #over = Promise.withResolvers<void>();
  #closing = false;
  #ended = false;
  /** Calls served so far; counted by the pool. */
  calls = 0;

  /** Settles when the process is gone and what it printed has been read. */
  readonly outputOver: Promise<void>;

  constructor(
    child: ChildProcess,
    limits: WorkerLimits,
    listener: LineListener,
    onEnd: (worker: PythonWorker, reason: EndReason) => void,
  ) {
    this.#child = child;
    this.#decoder = new FrameDecoder(limits.maxFrameBytes);
    this.#onEnd = onEnd;
    this.#output = new WorkerOutput(child.stdout, child.stderr, listener, () => this.#flooded());
    child.fromChild?.on('data', (chunk: Buffer) => this.#receive(chunk));
    child.fromChild?.on('end', () => this.#channelClosed());
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

  /** Settles when the process itself is gone. */
  get exited(): Promise<ProcessExit> {
    return this.#child.exited;
  }

  /** `members` are the request's JSON members without its id. */
  request(members: string, listener: LineListener): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(workerDied('before the call reached it'));
      if (this.#outstanding !== undefined) return reject(new Error('a worker is asked one thing at a time'));
      const id = requestId();
      this.#outstanding = { id, resolve, reject };
      this.#output.begin(listener);
      this.#child.toChild?.write(encodeFrame(`{"id":"${id}",${members}}`));
    });
  }

  /** Ends the process group at once; a request that is outstanding fails with `failure`. */
  kill(reason: EndReason, failure: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#child.kill();
    this.#output.flush();
    this.#child.fromChild?.destroy();
    this.#child.toChild?.destroy();
    // Only when the process is gone: its last words may still be in these pipes.
    void this.outputOver.then(() => this.#destroyOutput());
    const outstanding = this.#outstanding;
    this.#outstanding = undefined;
    outstanding?.reject(failure);
    this.#onEnd(this, reason);
    this.#over.resolve();
  }

  /** Lets the worker finish what it does and end by itself; kills it when `graceMs` are over. */
  async close(clock: Clock, graceMs: number): Promise<void> {
    this.#closing = true;
    this.#child.toChild?.end();
    const disarm = clock.after(graceMs, () => this.kill('closed', workerDied('while the gateway shut down')));
    await this.#over.promise;
    disarm();
    await this.#child.exited;
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      const [frame, second] = this.#decoder.push(chunk);
      if (frame === undefined) return;
      if (second !== undefined || this.#outstanding === undefined) {
        throw new ProtocolViolation('an answer came unasked');
      }
      this.#settle(this.#outstanding, frame);
    } catch (error) {
      this.#endFor(error);
    }
  }

  #settle(outstanding: Outstanding, frame: Buffer): void {
    let answer: Answer;
    try {
      answer = readAnswer(frame, outstanding.id);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      this.#finish();
      outstanding.reject(error);
      return;
    }
    this.#finish();
    outstanding.resolve(answer);
  }

  #finish(): void {
    this.#outstanding = undefined;
    this.#output.flush();
  }

  #endFor(error: unknown): void {
    if (error instanceof FrameTooLarge) {
      const message = 'The result is larger than the gateway accepts.';
      return this.kill('output_too_large', new ToolFailure('OUTPUT_TOO_LARGE', message, { cause: error }));
    }
    const message = 'The Python worker broke the protocol between it and the gateway.';
    this.kill(
      'protocol_violation',
      new ToolFailure('INTERNAL', message, { reason: 'WORKER_PROTOCOL_VIOLATION', cause: error }),
    );
  }

  #flooded(): void {
    const message = 'The tool printed without end.';
    this.kill('flooded', new ToolFailure('OUTPUT_TOO_LARGE', message, { reason: 'LOG_FLOOD' }));
  }

  #channelClosed(): void {
    // The process is ending, or tool code closed the channel and no answer can come. `exited` follows either way.
    this.#child.kill();
  }

  #died({ code, signal }: ProcessExit): void {
    if (this.#closing) return this.kill('closed', workerDied('while the gateway shut down'));
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    this.kill('died', workerDied(`unexpectedly (${how})`));
  }

  #destroyOutput(): void {
    this.#output.flush();
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }
}

/** What a process printed last may still be on its way when it is gone; something that it left behind may hold the pipe open. */
async function over(streams: readonly Readable[]): Promise<void> {
  const signal = AbortSignal.timeout(LAST_WORDS_MS);
  await Promise.allSettled(streams.map((stream) => finished(stream, { signal })));
}

function workerDied(when: string): ToolFailure {
  return new ToolFailure('UNAVAILABLE', `The Python worker ended ${when}.`, { reason: 'WORKER_DIED' });
}
