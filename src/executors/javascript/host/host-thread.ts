// HostThread: one worker thread in the host process. What it says is checked for its size and passed on.
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import type { HostLimits, ThreadNews } from '../threads/host-frames.ts';
import {
  readMessage,
  type FromWorker,
  type Greeting,
  type SharedMemoryMeter,
  type ToWorker,
} from '../threads/messages.ts';

export interface ThreadAudience {
  onMessage(message: FromWorker): void;
  onNews(news: ThreadNews): void;
}

/** The file of the thread, compiled or not. */
const MAIN = new URL(
  import.meta.url.endsWith('.ts') ? '../worker/main.ts' : '../worker/main.js',
  import.meta.url,
);
const KIB = 1024;
const MIB = 1024 * KIB;
/** V8 ends this whole process when one allocation goes far beyond it: our own limit must come long before. */
const HEAP_CEILING_MB = 1024;
const YOUNG_GENERATION_MB = 16;
const MAX_WORDS = 2_000;
/** The kinds of messages that end a request. */
const ANSWERS: ReadonlySet<string> = new Set(['exports', 'returned', 'thrown', 'unusable']);

export function heapCeiling({ maxMemoryBytes }: HostLimits): number {
  return Math.max(HEAP_CEILING_MB * MIB, maxMemoryBytes * 4);
}

export class HostThread {
  readonly #limits: HostLimits;
  readonly #audience: ThreadAudience;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #sharedMemory: SharedMemoryMeter = new Int32Array(new SharedArrayBuffer(4));
  readonly #requests = new Set<string>();
  #ready = false;
  #ended = false;
  #measuring = false;
  /** It has not said since its last answer that nothing of it is left. */
  #hasLeftovers = false;

  constructor(limits: HostLimits, audience: ThreadAudience) {
    this.#limits = limits;
    this.#audience = audience;
    this.#worker = new Worker(MAIN, {
      env: {},
      argv: [],
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: {
        maxOldGenerationSizeMb: heapCeiling(limits) / MIB,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
    });
    this.#listen();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', (message: unknown) => this.#receive(message));
    const { maxMessageBytes } = limits;
    const greeting: Greeting = { port: port2, sharedMemory: this.#sharedMemory, limits: { maxMessageBytes } };
    this.#worker.postMessage(greeting, [port2]);
  }

  /** It starts, runs something for a request or after one, or was ended and is not gone yet. */
  get isBusy(): boolean {
    return this.#ended || !this.#ready || this.#requests.size > 0 || this.#hasLeftovers;
  }

  post(message: ToWorker): void {
    if (message.kind === 'call' || message.kind === 'check') this.#requests.add(message.id);
    this.#port.postMessage(message);
  }

  end(): void {
    this.#ended = true;
    this.#port.close();
    void this.#worker.terminate();
  }

  /** Heap and buffers, shared ones too; the limit that V8 itself has for threads knows nothing of buffers, and is no soft one. */
  async checkMemory(): Promise<void> {
    if (this.#measuring || this.#ended) return;
    this.#measuring = true;
    try {
      const { used_heap_size: heap, external_memory: buffers } = await this.#worker.getHeapStatistics();
      const shared = Atomics.load(this.#sharedMemory, 0) * KIB;
      if (heap + buffers + shared > this.#limits.maxMemoryBytes) this.#fail({ kind: 'exhausted' });
    } catch {
      // It has ended, or has not begun.
    } finally {
      this.#measuring = false;
    }
  }

  #listen(): void {
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return this.#fail({ kind: 'exhausted' });
      this.#fail({ kind: 'failed', why: String(error.stack ?? error).slice(0, MAX_WORDS) });
    });
    this.#worker.once('exit', (code) => {
      this.#ended = true;
      this.#audience.onNews({ kind: 'gone', code });
    });
  }

  #receive(said: unknown): void {
    if (this.#ended) return;
    let message: FromWorker;
    try {
      message = readMessage(said, this.#limits);
    } catch {
      return this.#fail({ kind: 'violation' });
    }
    if (message.kind === 'ready') this.#ready = true;
    else if (message.kind === 'idle') this.#hasLeftovers = message.body !== '';
    else if (ANSWERS.has(message.kind)) {
      this.#requests.delete(message.id);
      this.#hasLeftovers = true;
    }
    this.#audience.onMessage(message);
  }

  #fail(news: ThreadNews): void {
    if (this.#ended) return;
    this.#audience.onNews(news);
    this.end();
  }
}
