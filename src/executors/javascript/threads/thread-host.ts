// ThreadHost: one process with worker threads in it, as the gateway sees it. It may die at any time, and all its threads with it.
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { ChildProcess, ProcessExit, ProcessSpawner } from '../../../ports/egress/process-spawner.ts';
import { FrameDecoder } from '../../../lib/bytes/frames.ts';
import { encodeToHost, largestFrame, readFromHost, type HostLimits, type ToHost } from './host-frames.ts';
import { fatalWords } from './last-words.ts';
import { ProtocolViolation } from './messages.ts';
import type { HostedThread, ThreadEnd, ThreadOwner } from './thread-owner.ts';

export interface HostNeeds {
  readonly spawner: ProcessSpawner;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: HostLimits;
}

export interface HostOptions extends HostNeeds {
  /** It takes no more threads. */
  readonly onRetire: (host: ThreadHost) => void;
  /** Before its threads hear of it. */
  readonly onEnd: (host: ThreadHost) => void;
}

interface Hosted {
  readonly owner: ThreadOwner;
  exhausted?: true;
  /** It was told to end; called when it is gone. */
  disarm?: () => void;
}

/** The file of the process, compiled or not. */
const MAIN = new URL(
  import.meta.url.endsWith('.ts') ? '../host/main.ts' : '../host/main.js',
  import.meta.url,
);
const MIB = 1024 * 1024;
/** The heap of the part that passes messages on, besides room for some of the largest. */
const HEAP_MB = 128;
const LARGEST_MESSAGES = 4;
/** A thread that was ended and is not gone by then is inside native code, which nothing but the end of the process ends. */
const STUCK_MS = 1_000;
/** The same for one whose memory is used up: V8 may end the process with it any moment. */
const EXHAUSTED_MS = 100;
const IDLE_MS = 5_000;
/** How V8 and the process itself end it when its memory is used up. They say so; a process that code in it kills does not. */
const OUT_OF_MEMORY: ReadonlySet<string | null> = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGKILL']);

export class ThreadHost {
  readonly #options: HostOptions;
  readonly #threads = new Map<number, Hosted>();
  readonly #decoder: FrameDecoder;
  readonly #started: Promise<void>;
  #unsent: Buffer[] = [];
  #child: ChildProcess | undefined;
  #lastThread = 0;
  #served = false;
  #retired = false;
  #ended = false;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#decoder = new FrameDecoder(largestFrame(options.settings));
    this.#started = this.#start();
    this.#endIfIdle();
  }

  open(owner: ThreadOwner): HostedThread {
    const thread = (this.#lastThread += 1);
    this.#threads.set(thread, { owner });
    this.#send({ kind: 'open', thread });
    return {
      post: (message) => this.#send({ kind: 'post', thread, message }),
      end: () => this.#endThread(thread),
    };
  }

  /** Ends the process, and what runs in it. */
  end(how: string): void {
    this.#end({ kind: 'host_ended', how, blamed: false, served: this.#served });
  }

  /** Settles when the process is gone. */
  async close(): Promise<void> {
    this.end('because the gateway shuts down');
    await this.#started;
    await this.#child?.exited;
  }

  async #start(): Promise<void> {
    const { spawner, settings } = this.#options;
    const { maxMessageBytes, maxMemoryBytes } = settings;
    const heapMb = HEAP_MB + LARGEST_MESSAGES * Math.ceil(maxMessageBytes / MIB);
    const limits = JSON.stringify({ maxMessageBytes, maxMemoryBytes } satisfies HostLimits);
    try {
      const child = await spawner.spawn({
        argv: [process.execPath, `--max-old-space-size=${heapMb}`, fileURLToPath(MAIN), limits],
        cwd: process.cwd(),
        // Handlers see no environment; the time zone is the gateway's all the same.
        env: { TZ: Intl.DateTimeFormat().resolvedOptions().timeZone },
        channel: true,
      });
      this.#listen(child);
    } catch (cause) {
      this.#end({ kind: 'no_host', cause });
    }
  }

  #listen(child: ChildProcess): void {
    this.#child = child;
    if (this.#ended) return child.kill();
    const words = fatalWords(child);
    child.fromChild?.on('data', (chunk: Buffer) => this.#receive(chunk));
    // It is ending, or code in its threads closed the channel. `exited` follows either way.
    child.fromChild?.on('end', () => child.kill());
    // One turn of the loop, so that an answer that is already in the pipe still counts.
    void child.exited.then((exit) => setImmediate(() => void words.then((said) => this.#died(exit, said))));
    for (const frame of this.#unsent) child.toChild?.write(frame);
    this.#unsent = [];
  }

  #send(order: ToHost): void {
    if (this.#ended) return;
    const frame = encodeToHost(order);
    if (this.#child === undefined) this.#unsent.push(frame);
    else this.#child.toChild?.write(frame);
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      for (const frame of this.#decoder.push(chunk)) {
        this.#handle(frame);
        if (this.#ended) return;
      }
    } catch (error) {
      this.#warn('broke the protocol between it and the gateway', String(error));
      this.end('because its process broke the protocol between it and the gateway');
    }
  }

  /** Throws ProtocolViolation. */
  #handle(frame: Buffer): void {
    const said = readFromHost(frame);
    const hosted = this.#threads.get(said.thread);
    if (hosted === undefined) throw new ProtocolViolation('the frame belongs to no thread');
    if ('message' in said) {
      this.#served ||= said.message['kind'] === 'ready';
      return hosted.owner.onMessage(said.message);
    }
    if (said.news.kind === 'exhausted') hosted.exhausted = true;
    if (said.news.kind === 'gone') this.#forget(said.thread, hosted);
    hosted.owner.onEnd(said.news);
  }

  #endThread(thread: number): void {
    const hosted = this.#threads.get(thread);
    if (hosted === undefined || hosted.disarm !== undefined) return;
    const graceMs = hosted.exhausted === true ? EXHAUSTED_MS : STUCK_MS;
    hosted.disarm = this.#options.clock.after(graceMs, () => this.#retire());
    this.#send({ kind: 'end', thread });
    this.#endIfDrained();
  }

  #forget(thread: number, { owner, disarm }: Hosted): void {
    this.#threads.delete(thread);
    disarm?.();
    owner.onGone();
    this.#endIfDrained();
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (this.#threads.size > 0) return;
    this.#options.clock.after(IDLE_MS, () => {
      if (this.#threads.size === 0) this.end('because nothing ran in its process');
    });
  }

  /** The calls in it go on to their end; what is stuck ends then, with the process. */
  #retire(): void {
    if (this.#retired || this.#ended) return;
    this.#retired = true;
    this.#options.onRetire(this);
    for (const { owner } of this.#threads.values()) owner.onRetire();
    this.#endIfDrained();
  }

  #endIfDrained(): void {
    if (!this.#retired || this.#ended) return;
    for (const { disarm } of this.#threads.values()) if (disarm === undefined) return;
    this.end('with the process that it ran in');
  }

  #died({ code, signal }: ProcessExit, words: string): void {
    if (this.#ended) return;
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    this.#warn(`ended (${how})`, words);
    let busy = 0;
    for (const { owner, disarm } of this.#threads.values())
      if (disarm !== undefined || !owner.isFree) busy += 1;
    this.#end({
      kind: 'host_ended',
      how: `with the process that it ran in (${how})`,
      blamed: busy === 1 && words !== '' && OUT_OF_MEMORY.has(signal),
      served: this.#served,
    });
  }

  #end(end: ThreadEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unsent = [];
    this.#child?.kill();
    this.#child?.fromChild?.destroy();
    this.#child?.toChild?.destroy();
    const all = [...this.#threads.values()];
    this.#threads.clear();
    this.#options.onEnd(this);
    for (const { owner, disarm } of all) {
      disarm?.();
      owner.onGone();
      owner.onEnd(end);
    }
  }

  #warn(what: string, output: string): void {
    const words = output === '' ? {} : { output };
    this.#options.log.warn({ executor: 'javascript', ...words }, `the process of JavaScript threads ${what}`);
  }
}
