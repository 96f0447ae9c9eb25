// The ladder: tries one back end after another with a program that tells what it sees, and keeps the first that holds.
import type { SandboxBackend, SandboxReport } from '../../ports/egress/sandbox.ts';
import type { ProcessStarter } from '../process/process-starter.ts';
import type { Clock } from '../../ports/clock.ts';
import { bwrapBackend, landlockBackend, type Backend } from './backends.ts';
import type { BackendContext } from './confined-program.ts';
import { runOnce } from './run/run-once.ts';
import { machineOf, type Machine } from './seccomp/syscalls.ts';
import { causeOf, shortageIn, TrialCutShort } from './shortage.ts';
import type { TemporaryFolders } from './workspace/temporary-folders.ts';

const TRIAL = {
  limits: {
    wallMs: 10_000,
    cpuSeconds: 5,
    memoryBytes: 256 << 20,
    maxProcesses: 8,
    outputBytes: 65_536,
    fileBytes: 1 << 20,
    workspaceBytes: 1 << 20,
    collectBytes: 0,
  },
  workspace: { kind: 'ephemeral' },
} as const;

/** Bubblewrap before 0.12 follows links that were planted in a writable folder; nothing is mounted below one here. */
const FIXED_BWRAP = [0, 12] as const;

export interface Probed {
  readonly backend: Backend | undefined;
  readonly report: SandboxReport;
}

export interface LadderDeps {
  readonly starter: ProcessStarter;
  readonly clock: Clock;
  readonly temporary: TemporaryFolders;
  readonly context: BackendContext;
}

export async function probeLadder(allowed: readonly SandboxBackend[], deps: LadderDeps): Promise<Probed> {
  const refused: { backend: SandboxBackend; why: string }[] = [];
  let backend: Backend | undefined;
  let shortage: string | undefined;
  for (const name of allowed) {
    try {
      backend = await tryRung(name, deps);
      break;
    } catch (error) {
      refused.push({ backend: name, why: reasonOf(error) });
      shortage = shortageIn(error);
      // It may hold in a moment: a lesser one is no place for what needs this one.
      if (shortage !== undefined) break;
    }
  }
  const { cgroups, masked } = deps.context;
  const report: SandboxReport = {
    backend: backend?.name ?? 'none',
    memoryLimit: cgroups?.memory?.version ?? 'rlimit',
    processLimit: cgroups?.pids?.version ?? 'rlimit',
    refused,
    ...(shortage !== undefined && { shortage }),
    warnings: [
      ...(backend?.name.startsWith('bwrap') === true ? await bwrapWarnings(deps) : []),
      ...(masked.length > 0
        ? [`The gateway was given open descriptors (${masked.join(', ')}); they are kept out of the sandbox.`]
        : []),
    ],
  };
  return { backend, report };
}

async function tryRung(name: SandboxBackend, deps: LadderDeps): Promise<Backend> {
  if (process.platform !== 'linux') throw new Error('it needs Linux');
  const machine = machineOf(process.arch);
  if (machine === undefined) throw new Error(`there is no filter of system calls for ${process.arch}`);
  const backend = rungOf(name, machine, deps.context);
  // A file of the host that anybody may read, and, where there is a /proc, what the kernel thinks of the program.
  const argv = ['/usr/bin/cat', '/etc/passwd', ...(name === 'bwrap-full' ? ['/proc/self/status'] : [])];
  const folder = backend.hasMounts ? undefined : deps.temporary.make();
  // The trial writes nothing: a disk that is full is for each run to tell.
  const unwatched = folder && { ...folder, usage: async () => 0 };
  const signal = new AbortController().signal;
  try {
    const { ended, exitCode, stdout, stderr } = await runOnce(
      { ...deps, backend, cgroups: deps.context.cgroups, owner: deps.context.user },
      { argv, signal, ...TRIAL },
      { folder: unwatched },
    );
    if (ended === 'timeout')
      throw new TrialCutShort(`the trial run took longer than ${TRIAL.limits.wallMs} ms`);
    if (ended !== 'exited' || exitCode !== 1 || !stderr.includes('/etc/passwd')) {
      throw new Error(`the trial run ended with ${ended}, exit code ${exitCode}`);
    }
    const seen = stdout.toString('utf8');
    if (seen.includes('root:')) throw new Error('the trial run could read a file of the host');
    if (name === 'bwrap-full') checkStatus(seen);
  } finally {
    await folder?.release();
  }
  return backend;
}

function rungOf(name: SandboxBackend, machine: Machine, context: BackendContext): Backend {
  const { bwrap, prlimit, python } = context.host;
  if (name === 'landlock') {
    if (python === undefined) throw new Error('python3 is not installed');
    return landlockBackend(context, machine);
  }
  if (bwrap === undefined) throw new Error('bubblewrap (bwrap) is not installed');
  if (prlimit === undefined) throw new Error('prlimit (util-linux) is not installed');
  return bwrapBackend(name, context, machine);
}

/** No capability, no way to new ones, a filter in force. */
function checkStatus(status: string): void {
  for (const line of [/^CapEff:\s+0+$/m, /^CapBnd:\s+0+$/m, /^NoNewPrivs:\s+1$/m, /^Seccomp:\s+2$/m]) {
    if (!line.test(status)) throw new Error(`the sandbox does not hold: no ${line.source} in its status`);
  }
}

async function bwrapWarnings({ starter, context }: LadderDeps): Promise<readonly string[]> {
  const plan = {
    argv: [context.host.bwrap ?? '', '--version'],
    cwd: '/',
    env: {},
    channel: false,
    stdin: false,
  };
  const child = await starter.start({ ...plan, ...(context.user && { user: context.user }) });
  let text = '';
  child.stderr.resume();
  for await (const chunk of child.stdout) text += String(chunk);
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number);
  const [fixedMajor, fixedMinor] = FIXED_BWRAP;
  if (major > fixedMajor || minor >= fixedMinor) return [];
  return [
    `bubblewrap ${major}.${minor} has known faults that are worked around here; 0.12 or newer has them fixed.`,
  ];
}

function reasonOf(error: unknown): string {
  const cause = causeOf(error);
  return cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
}
