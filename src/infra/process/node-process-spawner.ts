// NodeProcessSpawner: child processes by node:child_process, each in a process group of its own that dies as one.
import { spawn, type ChildProcess as NodeChild, type StdioOptions } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { ChildProcess, ProcessExit, ProcessSpawner, SpawnRequest } from '../../ports/process-spawner.ts';

const OUTPUT_ONLY: StdioOptions = ['ignore', 'pipe', 'pipe'];
const WITH_CHANNEL: StdioOptions = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'];

const EXPLANATIONS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such program, or the working directory does not exist',
  EACCES: 'it may not be executed',
  EAGAIN: 'the limit of processes is reached',
  EMFILE: 'the limit of open files is reached',
  ENOMEM: 'there is not enough memory',
};

export class NodeProcessSpawner implements ProcessSpawner {
  readonly #live = new Set<GroupLeader>();
  readonly #killAll = () => {
    for (const leader of this.#live) leader.kill();
  };

  async spawn(request: SpawnRequest): Promise<ChildProcess> {
    const [program, ...args] = request.argv;
    if (program === undefined) throw new ToolFailure('INTERNAL', 'No program was named to start.');
    const child = await start(program, args, request);
    const leader = new GroupLeader(child, request.channel);
    this.#add(leader);
    return leader;
  }

  /** SIGKILL to every child and its group; resolves when all of them have ended. */
  async closeAll(): Promise<void> {
    const exits = [...this.#live].map((leader) => leader.exited);
    this.#killAll();
    await Promise.all(exits);
  }

  #add(leader: GroupLeader): void {
    if (this.#live.size === 0) process.on('exit', this.#killAll);
    this.#live.add(leader);
    void leader.exited.then(() => {
      this.#live.delete(leader);
      if (this.#live.size === 0) process.off('exit', this.#killAll);
    });
  }
}

/** The first process of a group. Whoever it leaves behind in the group when it ends is killed too. */
class GroupLeader implements ChildProcess {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly toChild?: Writable;
  readonly fromChild?: Readable;
  readonly exited: Promise<ProcessExit>;
  #ended = false;

  constructor(child: NodeChild, channel: boolean) {
    const [, stdout, stderr, toChild, fromChild] = child.stdio;
    if (child.pid === undefined) throw new Error('a process that has started has no pid');
    this.pid = child.pid;
    this.stdout = readable(stdout);
    this.stderr = readable(stderr);
    if (channel) {
      if (!(toChild instanceof Writable)) throw new Error('fd 3 is not open for writing');
      this.toChild = toChild;
      this.fromChild = readable(fromChild);
      // A child that has gone shows in `exited`; a write that comes too late must not crash the gateway.
      toChild.on('error', () => undefined);
    }
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.kill();
        this.#ended = true;
        resolve({ code, signal });
      });
    });
    child.on('error', () => undefined);
  }

  kill(): void {
    // Once the leader is gone its number may belong to someone else.
    if (this.#ended) return;
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // ESRCH: the whole group has ended already.
    }
  }
}

function start(program: string, args: readonly string[], request: SpawnRequest): Promise<NodeChild> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => reject(spawnFailure(program, cause));
    try {
      const child = spawn(program, args, {
        cwd: request.cwd,
        env: { ...request.env },
        stdio: request.channel ? WITH_CHANNEL : OUTPUT_ONLY,
        detached: true,
        shell: false,
      });
      child.once('spawn', () => resolve(child));
      child.once('error', fail);
    } catch (cause) {
      fail(cause);
    }
  });
}

function spawnFailure(program: string, cause: unknown): ToolFailure {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  const message = `The program \`${program}\` cannot be started: ${EXPLANATIONS[code] ?? code}.`;
  return new ToolFailure('UNAVAILABLE', message, {
    reason: 'SPAWN_FAILED',
    partialSideEffects: false,
    details: { program, code },
    cause,
  });
}

function readable(stream: unknown): Readable {
  if (!(stream instanceof Readable)) throw new Error('a pipe of the process is not open for reading');
  stream.on('error', () => undefined);
  return stream;
}
