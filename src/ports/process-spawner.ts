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
}

export interface ChildProcess {
  readonly pid: number;
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
