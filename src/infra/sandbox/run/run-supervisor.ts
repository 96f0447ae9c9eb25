// RunSupervisor: holds a program at the gate until its cgroup is set, kills it rather than its sandbox, keeps what is told.
import type { Readable, Writable } from 'node:stream';
import type { Supervisor } from '../../process/start-plan.ts';
import type { Cgroup } from './cgroups.ts';

export interface SupervisorOptions {
  readonly statusFd: number;
  readonly cgroup: Cgroup | undefined;
  /** What the gateway does with the program's process before the program begins. A failure kills it. */
  readonly atGate?: (pid: number) => Promise<void>;
  /** The program leads a process group, and nothing that it starts can leave it; else a namespace dies with it. */
  readonly leadsGroup?: boolean;
  /** Once nothing of the program is left, or it was never started. */
  readonly onEnded?: () => void;
}

export class RunSupervisor implements Supervisor {
  readonly statusFd: number;
  readonly gateFd: number;
  readonly #options: SupervisorOptions;
  #pid: number | undefined;
  #killed = false;
  #exitCode: number | undefined;
  #ready = false;
  #outOfMemory = false;
  #ended = false;
  #failure: unknown;
  #text = '';

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.statusFd = options.statusFd;
    this.gateFd = options.statusFd + 1;
  }

  /** The program's, and its group's where it leads one. Undefined before it stands at the gate. */
  get pid(): number | undefined {
    return this.#pid;
  }

  /** Of the program, as the sandbox tells it. Undefined: the program never began, or was killed together with it. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** Whether the program itself was reached: before that, nothing has happened. */
  get began(): boolean {
    return this.#exitCode !== undefined || this.#ready;
  }

  get outOfMemory(): boolean {
    return this.#outOfMemory;
  }

  /** What went wrong at the gate. */
  get failure(): unknown {
    return this.#failure;
  }

  started(status: Readable, gate: Writable): void {
    status.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#text + text).split('\n');
      this.#text = lines.pop() ?? '';
      for (const line of lines) this.#read(line, gate);
    });
  }

  kill(): boolean {
    this.#killed = true;
    if (this.#exitCode !== undefined) return false;
    // Not known yet: it dies at the gate. Were the sandbox killed meanwhile, nobody would be left to reap it.
    return this.#pid === undefined || this.#killProgram(this.#pid);
  }

  ended(): void {
    if (this.#ended) return;
    this.#ended = true;
    const { cgroup, leadsGroup, onEnded } = this.#options;
    // The sandbox itself was killed, and ended nobody.
    if (leadsGroup === true && this.#pid !== undefined && this.#exitCode === undefined) {
      this.#killProgram(this.#pid);
    }
    this.#outOfMemory = cgroup?.ranOutOfMemory() ?? false;
    cgroup?.remove();
    onEnded?.();
  }

  #killProgram(pid: number): boolean {
    try {
      process.kill(this.#options.leadsGroup === true ? -pid : pid, 'SIGKILL');
      return true;
    } catch {
      return false;
    }
  }

  #read(line: string, gate: Writable): void {
    const pid = numberIn(line, 'child-pid');
    if (pid !== undefined) void this.#admit(pid, gate);
    this.#exitCode ??= numberIn(line, 'exit-code');
    this.#ready ||= numberIn(line, 'ready') !== undefined;
  }

  async #admit(pid: number, gate: Writable): Promise<void> {
    this.#pid = pid;
    try {
      if (this.#killed) throw new Error('killed before it began');
      await this.#options.cgroup?.add(pid);
      await this.#options.atGate?.(pid);
      gate.end('.');
    } catch (error) {
      this.#failure = error;
      this.kill();
      gate.destroy();
    }
  }
}

/** The lines are bwrap's own: a flat JSON object each. */
function numberIn(line: string, key: string): number | undefined {
  const found = new RegExp(`"${key}"\\s*:\\s*(-?\\d+)`).exec(line)?.[1];
  return found === undefined ? undefined : Number(found);
}
