// CgroupTree: a cgroup for each run, where the gateway may make one: memory and processes of the whole tree are bounded.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync, existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export type CgroupVersion = 'cgroup-v1' | 'cgroup-v2';

interface Controller {
  /** The folder in which the gateway makes its groups. */
  readonly base: string;
  readonly version: CgroupVersion;
}

export interface CgroupLimits {
  readonly memoryBytes: number;
  readonly maxProcesses: number;
}

const FILES = {
  'cgroup-v1': { memory: 'memory.limit_in_bytes', events: 'memory.oom_control' },
  'cgroup-v2': { memory: 'memory.max', events: 'memory.events' },
} as const;

const PREFIX = 'ute-';
let nextGroup = 0;

export class CgroupTree {
  readonly memory: Controller | undefined;
  readonly pids: Controller | undefined;

  private constructor(memory: Controller | undefined, pids: Controller | undefined) {
    this.memory = memory;
    this.pids = pids;
  }

  /** Undefined: there is no cgroup here that this process may divide. */
  static probe(proc = '/proc/self', mounts = '/sys/fs/cgroup'): CgroupTree | undefined {
    const memory = delegated('memory', proc, mounts);
    const pids = delegated('pids', proc, mounts);
    if (memory === undefined && pids === undefined) return undefined;
    for (const base of new Set([memory?.base, pids?.base])) if (base !== undefined) removeStale(base);
    return new CgroupTree(memory, pids);
  }

  open(limits: CgroupLimits): Cgroup {
    nextGroup += 1;
    const name = `${PREFIX}${process.pid}-${nextGroup}`;
    const memory = this.memory && { path: join(this.memory.base, name), ...FILES[this.memory.version] };
    const pids = this.pids && join(this.pids.base, name);
    for (const path of new Set([memory?.path, pids])) if (path !== undefined) mkdirSync(path);
    if (memory !== undefined) writeFileSync(join(memory.path, memory.memory), String(limits.memoryBytes));
    if (pids !== undefined) writeFileSync(join(pids, 'pids.max'), String(limits.maxProcesses));
    return new Cgroup(
      [...new Set([memory?.path, pids])].filter((path) => path !== undefined),
      memory,
    );
  }
}

export class Cgroup {
  readonly #paths: readonly string[];
  readonly #events: string | undefined;

  constructor(
    paths: readonly string[],
    memory: { readonly path: string; readonly events: string } | undefined,
  ) {
    this.#paths = paths;
    this.#events = memory && join(memory.path, memory.events);
  }

  /** Before the process has any children: they inherit the group. The kernel may take 30 ms over each. */
  async add(pid: number): Promise<void> {
    for (const path of this.#paths) await writeFile(join(path, 'cgroup.procs'), String(pid));
  }

  /** Whether somebody in the group was killed for want of memory. Asked before `remove`. */
  ranOutOfMemory(): boolean {
    if (this.#events === undefined) return false;
    return Number(/^oom_kill (\d+)$/m.exec(readText(this.#events))?.[1] ?? 0) > 0;
  }

  remove(): void {
    for (const path of this.#paths) removeWhenEmpty(path, 20);
  }
}

/** The kernel may need a moment after the last process has ended. */
function removeWhenEmpty(path: string, attempts: number): void {
  try {
    rmdirSync(path);
  } catch {
    if (attempts > 0) setTimeout(() => removeWhenEmpty(path, attempts - 1), 25).unref();
  }
}

function delegated(controller: string, proc: string, mounts: string): Controller | undefined {
  const own = readText(join(proc, 'cgroup'))
    .split('\n')
    .map((line) => line.split(':'));
  const first = own.find(([, controllers]) => controllers?.split(',').includes(controller));
  const unified = own.find(([id]) => id === '0');
  const candidates: Controller[] = [];
  if (first !== undefined) {
    candidates.push({ base: join(mounts, controller, first.slice(2).join(':')), version: 'cgroup-v1' });
  } else if (unified !== undefined) {
    const path = join(mounts, unified.slice(2).join(':'));
    // A group that divides itself holds no processes: the gateway sits in a child of the one it was given.
    for (const base of [path, dirname(path)]) {
      if (readText(join(base, 'cgroup.subtree_control')).split(/\s+/).includes(controller)) {
        candidates.push({ base, version: 'cgroup-v2' });
      }
    }
  }
  return candidates.find(({ base }) => canDivide(base));
}

function canDivide(base: string): boolean {
  const trial = join(base, `${PREFIX}${process.pid}-probe`);
  try {
    mkdirSync(trial);
    const usable = existsSync(join(trial, 'cgroup.procs'));
    rmdirSync(trial);
    return usable;
  } catch {
    return false;
  }
}

/** Groups of a gateway that was killed. */
function removeStale(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeWhenEmpty(join(base, name), 0);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
