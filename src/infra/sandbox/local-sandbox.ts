// LocalSandbox: the sandbox of this machine, found out by the first who asks, for one-shot runs and for processes that stay.
import { getuid } from 'node:process';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { SandboxSettings } from '../../lib/sandbox-settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SpawnRequest } from '../../ports/egress/process-spawner.ts';
import {
  notTried,
  type Sandbox,
  type SandboxOutcome,
  type SandboxReport,
  type SandboxRun,
} from '../../ports/egress/sandbox.ts';
import type { ProcessStarter } from '../process/process-starter.ts';
import { mostOpenFiles } from '../process/open-files.ts';
import { firstFreeFd, type Confiner, type StartPlan } from '../process/start-plan.ts';
import { ADVICE, type Backend } from './backends.ts';
import { CgroupTree } from './run/cgroups.ts';
import type { BackendContext, WorkspaceMount } from './confined-program.ts';
import { KeptWorkspaces } from './workspace/kept-workspaces.ts';
import { leakingFds, readHostFacts } from './host-facts.ts';
import { probeLadder, type Probed } from './ladder.ts';
import { runOnce } from './run/run-once.ts';
import { RunSupervisor } from './run/run-supervisor.ts';
import { shortageIn } from './shortage.ts';
import { ScratchFolder } from './workspace/scratch-folder.ts';
import { TemporaryFolders, type WorkspaceFolder } from './workspace/temporary-folders.ts';
import { VisiblePaths } from './visible-paths.ts';
import { WorkspaceArchive } from './workspace/workspace-archive.ts';
import { isPlainPath } from './workspace/workspace-files.ts';

/** A machine on which nothing worked is looked at again: it may have been a moment's want of memory or processes. */
const ASK_AGAIN_MS = 30_000;
const TRY_AGAIN_MS = 5_000;
const OPEN_FILES = 1024;

export interface LocalSandboxOptions {
  readonly settings: SandboxSettings;
  /** Absolute folder of workspaces. */
  readonly root: string;
  readonly starter: ProcessStarter;
  readonly clock: Clock;
  /** Absolute paths that no program may see: the gateway's data, settings and keys. */
  readonly hidden?: readonly string[];
  /** What lies in those and is shown to whoever needs it: installed packages. */
  readonly packages?: readonly string[];
}

interface Ready extends Probed {
  readonly context: BackendContext;
  readonly temporary: TemporaryFolders;
  readonly keptWorkspaces: KeptWorkspaces;
}

export class LocalSandbox implements Sandbox, Confiner {
  readonly #options: LocalSandboxOptions;
  readonly #visible: VisiblePaths;
  #ready: Promise<Ready> | undefined;
  #failedAt = 0;

  constructor(options: LocalSandboxOptions) {
    this.#options = options;
    this.#visible = new VisiblePaths(options.hidden ?? [], options.packages);
  }

  async describe(): Promise<SandboxReport> {
    return (await this.#probe()).report;
  }

  async run(run: SandboxRun): Promise<SandboxOutcome> {
    const { backend, context, temporary, keptWorkspaces } = await this.#backend();
    for (const { path } of run.files ?? []) {
      if (!isPlainPath(path)) throw unsafePath(path);
    }
    run.signal.throwIfAborted();
    const readable = this.#shown(run.readable ?? []);
    const { workspace, limits, signal } = run;
    const maxBytes = limits.workspaceBytes;
    const kept =
      workspace.kind === 'kept' ? await keptWorkspaces.open({ ...workspace, maxBytes }, signal) : undefined;
    let folder: WorkspaceFolder | undefined;
    try {
      // What is kept goes to the disk in the end, and without mounts so does what is not.
      if (kept !== undefined || !backend.hasMounts) await temporary.checkSpace(maxBytes);
      if (!backend.hasMounts) folder = temporary.make();
      const { starter, clock } = this.#options;
      const { cgroups, user: owner } = context;
      const deps = { backend, starter, clock, cgroups, owner };
      return await runOnce(deps, { ...run, readable }, { folder, kept });
    } finally {
      await folder?.release();
      kept?.release();
    }
  }

  async confine({ argv, cwd, env, channel, stdin = false, confinement }: SpawnRequest): Promise<StartPlan> {
    const { backend, context, temporary } = await this.#backend();
    if (confinement === undefined) throw new Error('the request asks for no sandbox');
    const { network, memoryBytes, maxProcesses } = confinement;
    const { tmpBytes = this.#options.settings.tmp_bytes } = confinement;
    const [readable, writable] = [this.#shown(confinement.readable), this.#lent(confinement.writable ?? [])];
    if (!backend.hasMounts) await temporary.checkSpace(tmpBytes);
    const scratch = backend.hasMounts ? undefined : new ScratchFolder(temporary.make(), tmpBytes);
    const supervisor = new RunSupervisor({
      statusFd: firstFreeFd({ channel }),
      cgroup: context.cgroups?.open(confinement),
      leadsGroup: !backend.hasMounts,
      ...(scratch && { atGate: (pid) => scratch.watch(pid), onEnded: () => scratch.close() }),
    });
    const limits = {
      memoryBytes,
      maxProcesses,
      tmpBytes,
      openFiles: OPEN_FILES,
      ...(scratch && { fileBytes: tmpBytes }),
      countsAddresses: false,
    };
    const workspace: WorkspaceMount = scratch ? { kind: 'folder', fd: scratch.fd } : { kind: 'none' };
    // Who asks for no folder of its own gets that one.
    const start = scratch && cwd === '/' ? undefined : cwd;
    try {
      return backend.plan(
        {
          argv,
          cwd: start,
          env,
          channel,
          stdin,
          readable,
          writable,
          network,
          workspace,
          endsItsOwn: true,
          limits,
        },
        supervisor,
      );
    } catch (error) {
      supervisor.ended();
      throw error instanceof ToolFailure ? error : cannotConfine(error);
    }
  }

  #shown(paths: readonly string[]): readonly string[] {
    try {
      return this.#visible.readable(paths);
    } catch (error) {
      throw cannotConfine(error);
    }
  }

  #lent(paths: readonly string[]): readonly string[] {
    try {
      return this.#visible.writable(paths);
    } catch (error) {
      throw cannotConfine(error);
    }
  }

  async #backend(): Promise<Ready & { readonly backend: Backend }> {
    const ready = await this.#probe();
    const { backend, report } = ready;
    if (backend !== undefined) return { ...ready, backend };
    const why = report.refused.map((each) => `${each.backend}: ${each.why}`).join('; ');
    const { shortage } = report;
    const message =
      shortage === undefined ? `There is no sandbox on this machine. ${ADVICE}` : notTried(shortage);
    throw unavailable(message, shortage !== undefined, new Error(why));
  }

  async #probe(): Promise<Ready> {
    const { clock } = this.#options;
    const known = await this.#ready;
    const pauseMs = known?.report.shortage !== undefined ? TRY_AGAIN_MS : ASK_AGAIN_MS;
    if (known !== undefined && known.backend === undefined && clock.now() - this.#failedAt >= pauseMs) {
      this.#ready = undefined;
    }
    this.#ready ??= this.#lookAround().catch((error: unknown) => {
      // Whoever asks next looks again.
      this.#ready = undefined;
      throw unavailable(notTried(shortageIn(error) ?? 'looking at this machine failed'), true, error);
    });
    return this.#ready;
  }

  async #lookAround(): Promise<Ready> {
    const { settings, root, starter, clock } = this.#options;
    const isLinux = process.platform === 'linux';
    // A root of a container is one all the same: what runs as it can undo most walls.
    const owner = getuid?.() === 0 ? { uid: settings.uid, gid: settings.gid } : undefined;
    const freeBytes = settings.workspace_free_bytes;
    const temporary = new TemporaryFolders({ root, freeBytes, owner, starter });
    const keptWorkspaces = new KeptWorkspaces({
      root,
      ttlMs: settings.workspace_ttl_ms,
      ownerBytes: settings.workspace_tenant_bytes,
      archive: new WorkspaceArchive({ starter, clock, owner }),
      clock,
    });
    const context: BackendContext = {
      host: readHostFacts(),
      cgroups: settings.cgroups && isLinux ? CgroupTree.probe() : undefined,
      user: owner,
      masked: isLinux ? leakingFds() : [],
      mostOpenFiles: mostOpenFiles(),
      lend: (content) => temporary.lend(content),
    };
    const probed = await probeLadder(settings.backends, { starter, clock, temporary, context });
    this.#failedAt = clock.now();
    return { ...probed, context, temporary, keptWorkspaces };
  }
}

function unavailable(message: string, retryable: boolean, cause: unknown): ToolFailure {
  return toolFailure('SANDBOX_UNAVAILABLE', message, { retryable, partialSideEffects: false, cause });
}

function cannotConfine(cause: unknown): ToolFailure {
  const message = cause instanceof Error ? cause.message : String(cause);
  return toolFailure('SANDBOX_FAILED', `The program cannot be put into the sandbox: ${message}`, {
    retryable: false,
    partialSideEffects: false,
    cause,
  });
}

function unsafePath(path: string): ToolFailure {
  const message = `The file ${JSON.stringify(path)} cannot be written: it must stay in the workspace.`;
  return toolFailure('UNSAFE_ARGUMENT', message, { partialSideEffects: false });
}
