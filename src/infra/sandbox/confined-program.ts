// ConfinedProgram: what a back end is asked to put walls around, one command or a process that stays.
import type { StartPlan } from '../process/start-plan.ts';
import type { CgroupTree } from './run/cgroups.ts';
import type { HostFacts } from './host-facts.ts';

export interface ConfinedProgram extends Pick<StartPlan, 'argv' | 'channel' | 'stdin'> {
  /** Undefined: the workspace. */
  readonly cwd: string | undefined;
  readonly env: { readonly [name: string]: string };
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly network: 'none' | 'host';
  readonly workspace: WorkspaceMount;
  /** It ends processes that it has started, where its signals can be kept from all others. */
  readonly endsItsOwn: boolean;
  readonly limits: ProgramLimits;
}

export type WorkspaceMount =
  | { readonly kind: 'none' }
  /** Lives and dies with the run. `files` are there from the start. */
  | { readonly kind: 'memory'; readonly bytes: number; readonly files: readonly MountedFile[] }
  /** An open descriptor of a folder on the disk; the back end does not close it. */
  | { readonly kind: 'folder'; readonly fd: number };

export interface MountedFile {
  readonly path: string;
  readonly content: Buffer;
}

export interface ProgramLimits {
  readonly memoryBytes: number;
  readonly maxProcesses: number;
  readonly tmpBytes: number;
  readonly openFiles: number;
  readonly cpuSeconds?: number;
  readonly fileBytes?: number;
  /** A process that stays may reserve more addresses than memory; one command may not. */
  readonly countsAddresses: boolean;
}

/** The path of the workspace where there is a mount namespace. */
export const WORKSPACE = '/workspace';

export interface BackendContext {
  readonly host: HostFacts;
  readonly cgroups: CgroupTree | undefined;
  /** Set where the gateway is root: it never runs anything as itself. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  readonly masked: readonly number[];
  /** Which no program gets more of than the gateway has. */
  readonly mostOpenFiles: number | undefined;
  /** A descriptor from which the child reads this content. */
  readonly lend: (content: Buffer | string) => number;
}

/** rlimits that count per process, for prlimit and the launcher alike. */
export function processLimits(
  { memoryBytes, openFiles, cpuSeconds, fileBytes, countsAddresses }: ProgramLimits,
  { cgroups, mostOpenFiles = Infinity }: Pick<BackendContext, 'cgroups' | 'mostOpenFiles'>,
): { readonly [resource: string]: readonly [soft: number, hard: number] } {
  const files = Math.min(openFiles, mostOpenFiles);
  return {
    ...(cgroups?.memory === undefined && {
      [countsAddresses ? 'as' : 'data']: [memoryBytes, memoryBytes] as const,
    }),
    ...(fileBytes !== undefined && { fsize: [fileBytes, fileBytes] as const }),
    nofile: [files, files],
    ...(cpuSeconds !== undefined && { cpu: [cpuSeconds, cpuSeconds + 1] as const }),
    core: [0, 0],
  };
}
