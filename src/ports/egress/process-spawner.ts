// ProcessSpawner: child processes. The only way to one; the adapter kills what it started when the gateway ends.
import type { Readable, Writable } from 'node:stream';

export interface SpawnRequest {
  /** argv, the program first. Never a shell. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child: nothing is inherited. */
  readonly env: { readonly [name: string]: string };
  /** Opens fd 3 (gateway → child) and fd 4 (child → gateway) as pipes of their own. */
  readonly channel: boolean;
  /** Opens fd 0 as a pipe; without it, it is /dev/null. */
  readonly stdin?: boolean;
  /** Runs the program inside the sandbox; refused (UNAVAILABLE, SANDBOX_UNAVAILABLE) where there is none. */
  readonly confinement?: Confinement;
}

/** What a confined process may see and use. Nothing else of the machine is there. */
export interface Confinement {
  /** Host paths visible read-only at the same place, besides the system's programs and libraries. */
  readonly readable: readonly string[];
  /** Host folders writable at the same place. */
  readonly writable?: readonly string[];
  readonly network: 'none' | 'host';
  /** Total memory, where a cgroup can be had; per process otherwise. */
  readonly memoryBytes: number;
  readonly maxProcesses: number;
  /** Size of /tmp; absent: what is set for all processes that stay. */
  readonly tmpBytes?: number;
}

export interface ChildProcess {
  readonly pid: number;
  /** fd 0. Only with `stdin`. */
  readonly stdin?: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** fd 3, gateway → child. Only with `channel`. */
  readonly toChild?: Writable;
  /** fd 4, child → gateway. Only with `channel`. */
  readonly fromChild?: Readable;
  /** Settles once, never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** SIGKILL to the child's whole process group. */
  kill(): void;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ProcessSpawner {
  /** Throws ToolFailure UNAVAILABLE (reason SPAWN_FAILED) when the program cannot be started. */
  spawn(request: SpawnRequest): Promise<ChildProcess>;
}
