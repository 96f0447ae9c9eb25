// StartPlan: a process about to be started, with everything that stands around the program settled.
import type { Readable, Writable } from 'node:stream';
import type { SpawnRequest } from '../../ports/egress/process-spawner.ts';

export interface StartPlan {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  readonly channel: boolean;
  readonly stdin: boolean;
  /** Whom the process runs as. Also clears the supplementary groups. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Descriptors of this process that the child gets, by their number there. Closed here once it has started. */
  readonly lent?: ReadonlyMap<number, number>;
  /** Numbers of descriptors that would leak into the child: it finds nothing behind them. */
  readonly masked?: readonly number[];
  readonly supervisor?: Supervisor;
}

/** Watches over a program that is started by another one, the sandbox's. */
export interface Supervisor {
  /** Where the child finds its end of the status pipe (child → gateway) and of the gate (gateway → child). */
  readonly statusFd: number;
  readonly gateFd: number;
  started(status: Readable, gate: Writable): void;
  /** Kills the program itself, now or as soon as it is known. False: it is gone; the process that was started must die instead. */
  kill(): boolean;
  /** The process that was started has ended, and all of the program with it. */
  ended(): void;
}

/** Puts a sandbox around a request. Throws ToolFailure UNAVAILABLE (SANDBOX_UNAVAILABLE) where there is none. */
export interface Confiner {
  confine(request: SpawnRequest): Promise<StartPlan>;
}

/** The first number that a plan may use for descriptors of its own. */
export function firstFreeFd({ channel }: Pick<StartPlan, 'channel'>): number {
  return channel ? 5 : 3;
}
