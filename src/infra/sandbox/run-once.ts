// One run: started, watched on all sides, ended with everything it started, and read out.
import { constants as osConstants } from 'node:os';
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { ChildProcess } from '../../ports/process-spawner.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SandboxOutcome, SandboxRun } from '../../ports/sandbox.ts';
import { firstFreeFd } from '../process/start-plan.ts';
import type { ProcessStarter } from '../process/process-starter.ts';
import type { Backend } from './backends.ts';
import type { CgroupTree } from './cgroups.ts';
import { WORKSPACE, type ConfinedProgram, type WorkspaceMount } from './confined-program.ts';
import { OutputCapture } from './output-capture.ts';
import { RunSupervisor } from './run-supervisor.ts';
import { O_PATH, readFiles } from './workspace-files.ts';
import type { WorkspaceFolder } from './workspaces.ts';

const WATCH_EVERY_MS = 100;
const GATE_ATTEMPTS = 2_000;
const OPEN_FILES = 256;

export interface RunDeps {
  readonly backend: Backend;
  readonly starter: ProcessStarter;
  readonly cgroups: CgroupTree | undefined;
  readonly clock: Clock;
}

type Ended = SandboxOutcome['ended'];

/** `folder` is the workspace; without it, it is in memory. */
export async function runOnce(
  deps: RunDeps,
  run: SandboxRun,
  folder: WorkspaceFolder | undefined,
): Promise<SandboxOutcome> {
  const { backend, starter, cgroups } = deps;
  const wanted = run.collect ?? [];
  let inMemory: number | undefined;
  const supervisor = new RunSupervisor({
    statusFd: firstFreeFd({ channel: false }),
    replaces: !backend.hasMounts,
    cgroup: cgroups?.open(run.limits),
    ...(folder === undefined &&
      wanted.length > 0 && { atGate: async (pid) => void (inMemory = await openWorkspaceOf(pid)) }),
  });
  try {
    const child = await startOrForget(
      () => starter.start(backend.plan(programOf(run, backend, folder), supervisor)),
      supervisor,
    );
    const { ended, output, exitCode } = await watch(child, supervisor, deps, run, folder);
    const held = folder?.fd ?? inMemory;
    const isReadable = ended === 'exited' && held !== undefined && wanted.length > 0;
    const files = isReadable ? readFiles(held, wanted, run.limits.collectBytes) : [];
    return { ended, exitCode, stdout: output.stdout, stderr: output.stderr, files, backend: backend.name };
  } finally {
    if (inMemory !== undefined) closeSync(inMemory);
  }
}

async function startOrForget<T>(start: () => Promise<T>, supervisor: RunSupervisor): Promise<T> {
  try {
    return await start();
  } catch (error) {
    supervisor.ended();
    throw error;
  }
}

async function watch(
  child: ChildProcess,
  supervisor: RunSupervisor,
  { clock }: RunDeps,
  run: SandboxRun,
  folder: WorkspaceFolder | undefined,
): Promise<{ readonly ended: Ended; readonly output: OutputCapture; readonly exitCode: number }> {
  const { limits, signal } = run;
  let ended: Ended = 'exited';
  const stop = (why: Ended) => {
    if (ended === 'exited') ended = why;
    child.kill();
  };
  const output = new OutputCapture(child, limits.outputBytes, () => stop('output_limit'), run.onOutput);
  const disarm = clock.after(limits.wallMs, () => stop('timeout'));
  const onAbort = () => child.kill();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) child.kill();
  const unwatch = folder && watchUsage(folder, limits.workspaceBytes, () => stop('disk_limit'));
  child.stdin?.end(run.stdin);
  const exit = await child.exited;
  disarm();
  signal.removeEventListener('abort', onAbort);
  await output.over();
  await unwatch?.();
  if (signal.aborted) throw signal.reason;
  if (ended === 'exited' && !supervisor.began) throw setUpFailure(output, supervisor.failure);
  const exitCode = supervisor.exitCode ?? exit.code ?? 128 + signalNumber(exit.signal);
  if (ended === 'exited' && supervisor.outOfMemory && exitCode !== 0) ended = 'memory_limit';
  return { ended, output, exitCode };
}

/**
 * The returned function ends the watch, after one last look: a look that was under way when the command ended may have
 * counted before its last files.
 */
function watchUsage(folder: WorkspaceFolder, limit: number, stop: () => void): () => Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const look = async () => {
    if ((await folder.usage()) > limit) stop();
  };
  const watching = (async () => {
    while (!signal.aborted) {
      await pause(WATCH_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await look();
    }
  })();
  return async () => {
    waiting.abort();
    await watching;
    await look();
  };
}

function programOf(run: SandboxRun, backend: Backend, folder: WorkspaceFolder | undefined): ConfinedProgram {
  const { limits, files = [] } = run;
  const bytes = limits.workspaceBytes;
  const workspace: WorkspaceMount =
    folder === undefined ? { kind: 'memory', bytes, files } : { kind: 'folder', fd: folder.fd };
  const [home, tmp] = backend.hasMounts ? [WORKSPACE, '/tmp'] : ['.', '.'];
  return {
    argv: run.argv,
    channel: false,
    stdin: run.stdin !== undefined,
    cwd: undefined,
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', HOME: home, TMPDIR: tmp, ...run.env },
    readable: run.readable ?? [],
    writable: [],
    network: 'none',
    workspace,
    limits: { ...limits, tmpBytes: bytes, openFiles: OPEN_FILES, countsAddresses: true },
  };
}

/**
 * The workspace in memory as the waiting program sees it. It lives for as long as the descriptor is open. Before the
 * sandbox has changed its root, there is no such folder, or the host's own.
 */
async function openWorkspaceOf(pid: number): Promise<number> {
  const own = statSync(WORKSPACE, { throwIfNoEntry: false })?.dev;
  const { O_DIRECTORY, O_NOFOLLOW } = constants;
  for (let attempt = 0; attempt < GATE_ATTEMPTS; attempt += 1) {
    try {
      const fd = openSync(`/proc/${pid}/root${WORKSPACE}`, O_PATH | O_DIRECTORY | O_NOFOLLOW);
      if (fstatSync(fd).dev !== own) return fd;
      closeSync(fd);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
    await pause(1);
  }
  throw new Error('the workspace did not appear');
}

function setUpFailure(output: OutputCapture, cause: unknown): ToolFailure {
  const said = output.stderr.toString('utf8').trim().slice(0, 500);
  return new ToolFailure('UNAVAILABLE', 'The sandbox could not be set up; nothing was run.', {
    reason: 'SANDBOX_FAILED',
    partialSideEffects: false,
    cause: cause ?? new Error(said === '' ? 'the sandbox ended without a word' : said),
  });
}

function signalNumber(name: string | null): number {
  return name !== null && Object.hasOwn(osConstants.signals, name)
    ? osConstants.signals[name as NodeJS.Signals]
    : 0;
}
