// GroupLeader: the first process of a group. Whoever it leaves behind in the group when it ends is killed too.
import type { ChildProcess as NodeChild } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import type { ChildProcess, ProcessExit } from '../../ports/egress/process-spawner.ts';
import type { StartPlan, Supervisor } from './start-plan.ts';

/** What a sandbox gets to end by itself once its program was killed; after that it is killed as well. */
const SUPERVISED_END_MS = 3_000;

export class GroupLeader implements ChildProcess {
  readonly pid: number;
  readonly stdin?: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly toChild?: Writable;
  readonly fromChild?: Readable;
  readonly exited: Promise<ProcessExit>;
  readonly #supervisor: Supervisor | undefined;
  #ended = false;
  #lastResort: NodeJS.Timeout | undefined;

  constructor(child: NodeChild, { channel, stdin, supervisor }: StartPlan) {
    const stdio: readonly unknown[] = child.stdio;
    if (child.pid === undefined) throw new Error('a process that has started has no pid');
    this.pid = child.pid;
    if (stdin) this.stdin = writable(stdio[0]);
    this.stdout = readable(stdio[1]);
    this.stderr = readable(stdio[2]);
    if (channel) {
      this.toChild = writable(stdio[3]);
      this.fromChild = readable(stdio[4]);
    }
    this.#supervisor = supervisor;
    supervisor?.started(readable(stdio[supervisor.statusFd]), writable(stdio[supervisor.gateFd]));
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#killGroup();
        this.#ended = true;
        clearTimeout(this.#lastResort);
        supervisor?.ended();
        resolve({ code, signal });
      });
    });
    child.on('error', () => undefined);
  }

  /** Without waiting for anything: the gateway itself ends. */
  killNow(): void {
    this.#supervisor?.kill();
    this.#killGroup();
  }

  kill(): void {
    // Once the leader is gone its number may belong to someone else.
    if (this.#ended) return;
    if (this.#supervisor?.kill() !== true) return this.#killGroup();
    // The sandbox waits for its program and then ends: so nobody is left that someone else would have to reap.
    this.#lastResort ??= setTimeout(() => this.#killGroup(), SUPERVISED_END_MS).unref();
  }

  #killGroup(): void {
    if (this.#ended) return;
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // ESRCH: the whole group has ended already.
    }
  }
}

function readable(stream: unknown): Readable {
  if (!(stream instanceof Readable)) throw new Error('a pipe of the process is not open for reading');
  stream.on('error', () => undefined);
  return stream;
}

function writable(stream: unknown): Writable {
  if (!(stream instanceof Writable)) throw new Error('a pipe of the process is not open for writing');
  // A child that has gone shows in `exited`; a write that comes too late must not crash the gateway.
  stream.on('error', () => undefined);
  return stream;
}
