// Sandbox: one command at a time behind walls: files written in, an argv run, files read out, nothing left running.

export type SandboxBackend = 'bwrap-full' | 'bwrap-container' | 'landlock';

/** What the machine gives, found out once. */
export interface SandboxReport {
  readonly backend: SandboxBackend | 'none';
  /** What bounds memory and processes of a whole run; `rlimit` bounds memory of each process alone. */
  readonly memoryLimit: 'cgroup-v2' | 'cgroup-v1' | 'rlimit';
  readonly processLimit: 'cgroup-v2' | 'cgroup-v1' | 'rlimit';
  /** Why the better back ends cannot be used. */
  readonly refused: readonly { readonly backend: SandboxBackend; readonly why: string }[];
  readonly warnings: readonly string[];
  /** Where none was found: what this machine was short of when one was tried. Another look may find one. */
  readonly shortage?: string;
}

/** For callers, and for the operator. */
export function notTried(shortage: string): string {
  return `The sandbox could not be tried: ${shortage}. Another try follows by itself.`;
}

/** Slashes between names, relative to the workspace; no `.`, `..` or empty name. */
export interface SandboxFile {
  readonly path: string;
  readonly content: Buffer;
}

export interface SandboxLimits {
  readonly wallMs: number;
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly maxProcesses: number;
  /** stdout and stderr together. */
  readonly outputBytes: number;
  /** Largest file that may be written. */
  readonly fileBytes: number;
  /** The workspace, and the temporary folder apart from it. */
  readonly workspaceBytes: number;
  /** All files read out together. */
  readonly collectBytes: number;
}

export interface SandboxRun {
  /** The program by its absolute path. Never a shell. */
  readonly argv: readonly string[];
  /** Besides PATH, HOME, TMPDIR and LANG, which the sandbox sets. */
  readonly env?: { readonly [name: string]: string };
  /**
   * Empty and gone afterwards, or kept under a key; calls of one key run one after another. What is kept for one owner
   * is counted together.
   */
  readonly workspace:
    | { readonly kind: 'ephemeral' }
    | { readonly kind: 'kept'; readonly owner: string; readonly key: string };
  /** Host paths visible read-only at the same place. */
  readonly readable?: readonly string[];
  /** Written into the workspace before the run, over what is there. */
  readonly files?: readonly SandboxFile[];
  readonly stdin?: string;
  /** Paths read out of the workspace after the run; what is not there is left out. */
  readonly collect?: readonly string[];
  readonly limits: SandboxLimits;
  readonly signal: AbortSignal;
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
}

export interface SandboxOutcome {
  readonly ended: 'exited' | 'timeout' | 'output_limit' | 'disk_limit' | 'memory_limit';
  /** 128 + the number of the signal that ended it. */
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly files: readonly SandboxFile[];
  readonly backend: SandboxBackend;
}

export interface Sandbox {
  describe(): Promise<SandboxReport>;
  /**
   * When it settles, every process of the run is dead. Rejects with the signal's reason when that aborts; with
   * ToolFailure UNAVAILABLE (SANDBOX_UNAVAILABLE, SANDBOX_FAILED) when nothing ran; with PERMANENT (UNSAFE_FILE) when
   * a file to be read out is not a plain one.
   */
  run(run: SandboxRun): Promise<SandboxOutcome>;
}
