// The invocation of bubblewrap. The order of its options is the order of its mounts, and much of the safety is in it.
import { closeSync, constants, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { firstFreeFd, type StartPlan, type Supervisor } from '../process/start-plan.ts';
import { processLimits, WORKSPACE, type BackendContext, type ConfinedProgram } from './confined-program.ts';
import { handOver } from './handed-over.ts';
import { barrierAbove, refuseUnreachable, unreachable } from './reachable.ts';
import { O_PATH } from './workspace/workspace-files.ts';

const SHM_BYTES = 1 << 20;
const WRITABLE_MEMORY = /^\/(?:tmp|dev\/shm)\/./;
/** For the names of what is mounted in it. */
const FOLDER_BYTES = 1 << 20;

export interface BwrapOptions {
  /** False in containers that mask /proc: none can be mounted then, and namespaces cannot be counted. */
  readonly hasProc: boolean;
  readonly filter: Buffer;
}

export function bwrapPlan(
  program: ConfinedProgram,
  { hasProc, filter }: BwrapOptions,
  context: BackendContext,
  supervisor: Supervisor,
): StartPlan {
  const { bwrap, prlimit } = context.host;
  if (bwrap === undefined || prlimit === undefined) throw new Error('bwrap and prlimit are not here');
  const lent = new LentFds(supervisor.gateFd + 1);
  try {
    const options = [
      namespaces(program, hasProc),
      environment(program),
      system(program, context),
      hasProc ? ['--proc', '/proc'] : [],
      ['--dev', '/dev'],
      sharedZeros(program, context),
      tmpfs('/dev/shm', SHM_BYTES),
      tmpfs('/tmp', program.limits.tmpBytes),
      binds(program, lent, context),
      workspace(program, lent, context),
      sealed([...foldersInTmp(program).toReversed(), ...(hasProc ? ['/proc'] : []), '/dev', '/']),
      ['--chdir', program.cwd ?? WORKSPACE],
      ['--seccomp', lent.add(context.lend(filter))],
      ['--json-status-fd', String(supervisor.statusFd), '--block-fd', String(supervisor.gateFd)],
    ].flat();
    const { limits } = program;
    const perProcess = Object.entries(processLimits(limits, context));
    const argv = [
      [prlimit, ...perProcess.map(([name, [soft, hard]]) => `--${name}=${soft}:${hard}`), '--'],
      // Options go through a descriptor: their values, secrets among them, are in no process list.
      [bwrap, '--args', lent.add(context.lend(joined(options))), '--'],
      // Inside: here its user's processes are those of this sandbox alone.
      [prlimit, `--nproc=${limits.maxProcesses}:${limits.maxProcesses}`, '--'],
      program.argv,
    ].flat();
    return {
      argv,
      cwd: '/',
      env: {},
      channel: program.channel,
      stdin: program.stdin,
      ...(context.user && { user: context.user }),
      lent: lent.all,
      masked: context.masked.filter((fd) => fd > lent.last || fd < firstFreeFd(program)),
      supervisor,
    };
  } catch (error) {
    lent.closeAll();
    throw error;
  }
}

function namespaces({ network }: ConfinedProgram, hasProc: boolean): readonly string[] {
  return [
    ['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup'],
    network === 'none' ? ['--unshare-net'] : [],
    hasProc ? ['--disable-userns', '--assert-userns-disabled'] : [],
    ['--uid', '65534', '--gid', '65534', '--hostname', 'sandbox', '--cap-drop', 'ALL'],
    ['--die-with-parent', '--new-session', '--as-pid-1'],
  ].flat();
}

/** A NUL inside an option would begin another one. */
function joined(options: readonly string[]): string {
  if (options.some((option) => option.includes('\0'))) {
    throw new Error('a path or a variable of its environment holds a NUL character.');
  }
  return options.map((option) => `${option}\0`).join('');
}

/** After every mount: what is behind it cannot be made any more. */
function sealed(places: readonly string[]): readonly string[] {
  return places.flatMap((place) => ['--remount-ro', place]);
}

function environment({ env }: ConfinedProgram): readonly string[] {
  return ['--clearenv', ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])];
}

function system({ network }: ConfinedProgram, { host }: BackendContext): readonly string[] {
  const files = network === 'host' ? [...host.systemFiles, ...host.networkFiles] : host.systemFiles;
  return [
    ['--perms', '0755', '--dir', '/etc'],
    [...host.systemFolders, ...files].flatMap((path) => ['--ro-bind-try', path, path]),
    [...host.systemLinks].flatMap(([path, target]) => ['--symlink', target, path]),
  ].flat();
}

/**
 * The folders above what is shown below /tmp and /dev/shm, the outermost first. There they would be made in memory that
 * the program may write to, and it could put something beside what it is shown.
 */
function foldersInTmp({ readable, writable }: ConfinedProgram): readonly string[] {
  const found = new Set<string>();
  for (const path of readable) {
    for (let folder = dirname(path); WRITABLE_MEMORY.test(folder); folder = dirname(folder))
      found.add(folder);
  }
  const isShown = (folder: string) =>
    [...readable, ...writable].some((path) => folder === path || folder.startsWith(`${path}/`));
  return [...found].filter((folder) => !isShown(folder)).toSorted();
}

/** Opened here, so that what is bound is what stood there now, and a link in the place of a folder is refused. */
function binds(program: ConfinedProgram, lent: LentFds, { user }: BackendContext): readonly string[] {
  const { readable, writable } = program;
  refuseUnsafePlaces(readable, writable);
  refuseUnreachable(writable, user);
  const { O_DIRECTORY, O_NOFOLLOW } = constants;
  return [
    ...foldersInTmp(program).flatMap((path) => tmpfs(path, FOLDER_BYTES, '0755')),
    ...readable.flatMap((path) => shown(path, lent, user)),
    ...writable.flatMap((path) => [
      '--bind-fd',
      lent.add(openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)),
      path,
    ]),
  ];
}

/** Bubblewrap looks for a path with the rights of its user, although it is given a descriptor. */
function shown(path: string, lent: LentFds, user: BackendContext['user']): readonly string[] {
  const barrier = user === undefined ? undefined : barrierAbove(path, user);
  if (user === undefined || barrier === undefined)
    return ['--ro-bind-fd', lent.add(openSync(path, O_PATH)), path];
  const handed = handOver(path, user);
  if (handed === undefined) throw unreachable(path, barrier, user);
  return handed.flatMap((each) => {
    if (each.kind === 'folder') return ['--perms', '0755', '--dir', each.path];
    if (each.kind === 'link') return ['--symlink', each.target, each.path];
    return ['--perms', each.isProgram ? '0755' : '0644', '--ro-bind-data', lent.add(each.fd), each.path];
  });
}

/** Nothing may be mounted below a folder that can be written: a link planted there leads the mount elsewhere. */
function refuseUnsafePlaces(readable: readonly string[], writable: readonly string[]): void {
  for (const path of [...readable, ...writable]) {
    if (resolve(path) !== path || /^\/(?:$|(?:proc|dev|sys)(?:\/|$))/.test(path)) {
      throw new Error(
        `${path} cannot be shown in the sandbox: expected an absolute path, without "..", outside /proc, /dev and /sys.`,
      );
    }
    const above = writable.find((folder) => path !== folder && `${path}/`.startsWith(`${folder}/`));
    if (above !== undefined) {
      throw new Error(`${path} cannot be shown in the sandbox: it lies in the writable folder ${above}.`);
    }
  }
}

function workspace(
  { workspace }: ConfinedProgram,
  lent: LentFds,
  { lend }: BackendContext,
): readonly string[] {
  if (workspace.kind === 'none') return [];
  if (workspace.kind === 'folder') throw new Error('a workspace under bubblewrap is in memory');
  // Fresh and empty: no link can have been planted in it.
  const files = workspace.files.flatMap(({ path, content }) => {
    const fd = lent.add(lend(content));
    return ['--perms', '0644', '--file', fd, `${WORKSPACE}/${path}`];
  });
  return ['--size', String(workspace.bytes), '--tmpfs', WORKSPACE, ...files];
}

/**
 * A shared mapping of /dev/zero is memory that a limit on private data does not count. /dev/full reads the same and
 * cannot be mapped.
 */
function sharedZeros({ limits }: ConfinedProgram, { cgroups }: BackendContext): readonly string[] {
  const counted = cgroups?.memory !== undefined || limits.countsAddresses;
  return counted ? [] : ['--dev-bind-try', '/dev/full', '/dev/zero'];
}

function tmpfs(path: string, bytes: number, perms = '1777'): readonly string[] {
  return ['--perms', perms, '--size', String(bytes), '--tmpfs', path];
}

/** Numbers for descriptors in the child, one after another. */
class LentFds {
  readonly all = new Map<number, number>();
  #next: number;

  constructor(first: number) {
    this.#next = first;
  }

  get last(): number {
    return this.#next - 1;
  }

  add(own: number): string {
    this.all.set(this.#next, own);
    this.#next += 1;
    return String(this.#next - 1);
  }

  closeAll(): void {
    for (const own of this.all.values()) closeSync(own);
  }
}
