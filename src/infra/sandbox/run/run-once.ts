// One run: started, watched on all sides, ended with everything it started, and read out.
import { constants as osConstants } from 'node:os';
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { toolFailure } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { ChildProcess } from '../../../ports/egress/process-spawner.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { SandboxOutcome, SandboxRun } from '../../../ports/egress/sandbox.ts';
import { firstFreeFd } from '../../process/start-plan.ts';
import type { ProcessStarter } from '../../process/process-starter.ts';
import type { Backend } from '../backends.ts';
import type { CgroupTree } from './cgroups.ts';
import { WORKSPACE, type ConfinedProgram, type WorkspaceMount } from '../confined-program.ts';
import { OutputCapture } from './output-capture.ts';
import { RunSupervisor } from './run-supervisor.ts';
import { O_PATH, readFiles, writeFiles, type Owner } from '../workspace/workspace-files.ts';
import type { KeptWorkspace } from '../workspace/kept-workspaces.ts';
import type { WorkspaceFolder } from '../workspace/temporary-folders.ts';

const WATCH_EVERY_MS = 50;
const GATE_ATTEMPTS = 2_000;
const OPEN_FILES = 256;

export interface RunDeps {
  readonly backend: Backend;
  readonly starter: ProcessStarter;
  readonly cgroups: CgroupTree | undefined;
  readonly clock: Clock;
  /** Whom the sandbox runs as. */
  readonly owner: Owner | undefined;
}

type Ended = SandboxOutcome['ended'];

export interface RunPlaces {
  /** The workspace; without it, it is in memory. */
  readonly folder: WorkspaceFolder | undefined;
  /** What earlier runs of the session left, and where this one's is left. */
  readonly kept?: KeptWorkspace | undefined;
}

export async function runOnce(deps: RunDeps, run: SandboxRun, places: RunPlaces): Promise<SandboxOutcome> {
  const { backend, starter, cgroups } = deps;
  const { folder, kept } = places;
  const wanted = run.collect ?? [];
  let inMemory: number | undefined;
  let isRestored = false;
  const restore = async (fd: number) => {
    await kept?.restore(fd);
    isRestored = true;
  };
  if (folder !== undefined) await restore(folder.fd);
  if (folder !== undefined) writeFiles(folder.fd, run.files ?? [], deps.owner);
  const looksInside = folder === undefined && (wanted.length > 0 || kept !== undefined);
  const supervisor = new RunSupervisor({
    statusFd: firstFreeFd({ channel: false }),
    leadsGroup: !backend.hasMounts,
    cgroup: cgroups?.open(run.limits),
    ...(looksInside && { atGate: async (pid) => restore((inMemory = await openWorkspaceOf(pid))) }),
  });
  try {
    const child = await startOrForget(
      () => starter.start(backend.plan(programOf(run, backend, folder), supervisor)),
      supervisor,
    );
    const seen = await settled(watch(child, supervisor, deps, run, folder));
    const held = folder?.fd ?? inMemory;
    // A workspace that was not whole when the program was ended is not what the next run shall find.
    const keeps = held !== undefined && isRestored && supervisor.began ? kept : undefined;
    const fits = keeps === undefined || held === undefined || (await keep(keeps, held, seen));
    if ('error' in seen) throw seen.error;
    const { output, exitCode } = seen.value;
    const ended = fits ? seen.value.ended : 'disk_limit';
    const isReadable = ended === 'exited' && held !== undefined && wanted.length > 0;
    const files = isReadable ? readFiles(held, wanted, run.limits.collectBytes) : [];
    return { ended, exitCode, stdout: output.stdout, stderr: output.stderr, files, backend: backend.name };
  } finally {
    if (inMemory !== undefined) closeSync(inMemory);
  }
}

/**
 * Whatever became of the run, given up by its caller too, what it wrote is there for the next; but where it wrote too
 * much, the workspace is as it was before.
 */
async function keep(kept: KeptWorkspace, held: number, seen: Settled<Watched>): Promise<boolean> {
  const isTooMuch = 'value' in seen && seen.value.ended === 'disk_limit';
  return !isTooMuch && (await kept.keep(held));
}

type Settled<T> = { readonly value: T } | { readonly error: unknown };

const settled = <T>(promise: Promise<T>): Promise<Settled<T>> =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

async function startOrForget<T>(start: () => Promise<T>, supervisor: RunSupervisor): Promise<T> {
  try {
    return await start();
  } catch (error) {
    supervisor.ended();
    throw error;
  }
}

interface Watched {
  readonly ended: Ended;
  readonly output: OutputCapture;
  readonly exitCode: number;
}

async function watch(
  child: ChildProcess,
  supervisor: RunSupervisor,
  { clock }: RunDeps,
  run: SandboxRun,
  folder: WorkspaceFolder | undefined,
): Promise<Watched> {
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
  const look = async () => {
    if (folder === undefined || supervisor.pid === undefined) return;
    const used = await folder.usage(supervisor.pid, fileBytesOf(run));
    if (used > limits.workspaceBytes) stop('disk_limit');
  };
  const unwatch = folder && lookOften(look);
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
function lookOften(look: () => Promise<void>): () => Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
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

/** No file is larger than the workspace it lies in. */
const fileBytesOf = ({ limits }: SandboxRun) => Math.min(limits.fileBytes, limits.workspaceBytes);

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
    endsItsOwn: false,
    limits: {
      ...limits,
      fileBytes: fileBytesOf(run),
      tmpBytes: bytes,
      openFiles: OPEN_FILES,
      countsAddresses: true,
    },
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
  if (cause instanceof ToolFailure) return cause;
  const said = output.stderr.toString('utf8').trim().slice(0, 500);
  return toolFailure('SANDBOX_FAILED', 'The sandbox could not be set up; nothing was run.', {
    partialSideEffects: false,
    cause: cause ?? new Error(said === '' ? 'the sandbox ended without a word' : said),
  });
}

function signalNumber(name: string | null): number {
  return name !== null && Object.hasOwn(osConstants.signals, name)
    ? osConstants.signals[name as NodeJS.Signals]
    : 0;
}
