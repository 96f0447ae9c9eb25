// ProcessStarter: starts what a plan says, each in a process group of its own that dies as one, with the gateway too.
import { spawn, type ChildProcess as NodeChild, type StdioOptions } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ChildProcess } from '../../ports/egress/process-spawner.ts';
import { GroupLeader } from './group-leader.ts';
import { mostOpenFiles } from './open-files.ts';
import type { StartPlan } from './start-plan.ts';

const EXPLANATIONS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such program, or the working directory does not exist',
  EACCES: 'it may not be executed',
  EAGAIN: 'the limit of processes is reached',
  EMFILE: 'the limit of open files is reached',
  ENOMEM: 'there is not enough memory',
};

export class ProcessStarter {
  readonly #live = new Set<GroupLeader>();
  readonly #killAll = () => {
    for (const leader of this.#live) leader.killNow();
  };

  /** Throws ToolFailure UNAVAILABLE (reason SPAWN_FAILED). The plan's lent descriptors are closed in any case. */
  async start(plan: StartPlan): Promise<ChildProcess> {
    const launched = launch(plan).finally(() => closeAll(plan.lent?.values() ?? []));
    const child = await launched.catch((error: unknown) => {
      plan.supervisor?.ended();
      throw error;
    });
    const leader = new GroupLeader(child, plan);
    this.#add(leader);
    return leader;
  }

  /** SIGKILL to every child and its group; resolves when all of them have ended. */
  async closeAll(): Promise<void> {
    const exits = [...this.#live].map((leader) => leader.exited);
    for (const leader of this.#live) leader.kill();
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

function launch(plan: StartPlan): Promise<NodeChild> {
  const [program, ...args] = plan.argv;
  return new Promise((resolve, reject) => {
    if (program === undefined) return reject(new ToolFailure('INTERNAL', 'No program was named to start.'));
    const fail = (cause: unknown) => reject(spawnFailure(program, withinLimit(cause, plan)));
    const nothing = (plan.masked?.length ?? 0) > 0 ? openSync('/dev/null', 'r') : undefined;
    try {
      const child = spawn(program, args, {
        cwd: plan.cwd,
        env: { ...plan.env },
        stdio: stdioOf(plan, nothing),
        detached: true,
        shell: false,
        ...plan.user,
      });
      child.once('spawn', () => resolve(child));
      child.once('error', fail);
    } catch (cause) {
      fail(cause);
    } finally {
      if (nothing !== undefined) closeSync(nothing);
    }
  });
}

function stdioOf(
  { stdin, channel, supervisor, lent, masked = [] }: StartPlan,
  nothing: number | undefined,
): StdioOptions {
  const places = new Map<number, 'pipe' | number>();
  if (nothing !== undefined) for (const fd of masked) places.set(fd, nothing);
  if (stdin) places.set(0, 'pipe');
  for (const fd of [1, 2, ...(channel ? [3, 4] : [])]) places.set(fd, 'pipe');
  if (supervisor !== undefined)
    for (const fd of [supervisor.statusFd, supervisor.gateFd]) places.set(fd, 'pipe');
  for (const [fd, own] of lent ?? []) places.set(fd, own);
  // What is ignored behind fd 2 is left as it is: closed, unless it leaks.
  return Array.from({ length: Math.max(...places.keys()) + 1 }, (_, fd) => places.get(fd) ?? 'ignore');
}

function closeAll(fds: Iterable<number>): void {
  for (const fd of fds) closeSync(fd);
}

/** The system calls it an invalid argument where a child's descriptor would have a number that the limit leaves none of. */
function withinLimit(cause: unknown, { masked = [] }: StartPlan): unknown {
  const most = mostOpenFiles();
  const highest = Math.max(...masked);
  if ((cause as NodeJS.ErrnoException).code !== 'EINVAL' || most === undefined || highest < most)
    return cause;
  const message = `the gateway was started with descriptor ${highest} open, and a limit of ${most} open files`;
  return Object.assign(new Error(message, { cause }), { code: 'EMFILE' });
}

function spawnFailure(program: string, cause: unknown): ToolFailure {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  const message = `The program \`${program}\` cannot be started: ${EXPLANATIONS[code] ?? code}.`;
  return toolFailure('SPAWN_FAILED', message, {
    partialSideEffects: false,
    details: { program, code },
    cause,
  });
}
