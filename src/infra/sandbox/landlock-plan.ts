// The invocation of the landlock launcher: the last rung, for machines on which nobody may make namespaces.
import { constants, existsSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { firstFreeFd, type StartPlan, type Supervisor } from '../process/start-plan.ts';
import { processLimits, type BackendContext, type ConfinedProgram } from './confined-program.ts';
import { refuseUnreachable } from './reachable.ts';
import type { HostFacts } from './host-facts.ts';
import { O_PATH } from './workspace/workspace-files.ts';

/** The same place seen from src and from dist. */
const LAUNCHER = fileURLToPath(
  new URL('../../../python/unified_tools/landlock_launcher.py', import.meta.url),
);
/** More than neighbours may start: the kernel counts processes for the user, and all of them are the same one. */
const PROCESS_HEADROOM = 4096;
/** Node.js does without them where they are not there, and ends where they are and may not be read. */
const REQUIRED_FILES = ['/etc/ssl/openssl.cnf', '/etc/pki/tls/openssl.cnf'];
const DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom'];

export function landlockPlan(
  program: ConfinedProgram,
  filters: { readonly always: Buffer; readonly whereSignalsStay: Buffer },
  context: BackendContext,
  supervisor: Supervisor,
): StartPlan {
  const { host, user, masked, lend } = context;
  if (host.python === undefined) throw new Error('python3 is not here');
  const { workspace, limits, network } = program;
  // Landlock takes rights away and gives none: what its user may not pass stays closed.
  refuseUnreachable(
    [...program.readable, ...program.writable].filter((path) => existsSync(path)),
    user,
  );
  const firstLent = supervisor.gateFd + 1;
  const folder = workspace.kind === 'folder' ? workspace.fd : undefined;
  const orders = {
    argv: program.argv,
    env: program.env,
    cwd: program.cwd ?? null,
    workspace_fd: folder === undefined ? null : firstLent + 1,
    readable: [...systemPaths(host, network), ...program.readable].filter((path) => existsSync(path)),
    writable: [...program.writable, '/dev/null'],
    limits: processLimits(limits, context),
    max_processes: limits.maxProcesses,
    process_headroom: program.channel ? PROCESS_HEADROOM : 0,
    seccomp: filters.always.toString('base64'),
    seccomp_where_signals_stay: filters.whereSignalsStay.toString('base64'),
    status_fd: supervisor.statusFd,
    gate_fd: supervisor.gateFd,
    keep_fds: program.channel ? [0, 1, 2, 3, 4] : [0, 1, 2],
  };
  const lent = new Map([[firstLent, lend(JSON.stringify(orders))]]);
  if (folder !== undefined) {
    lent.set(firstLent + 1, openSync(`/proc/self/fd/${folder}`, O_PATH | constants.O_DIRECTORY));
  }
  return {
    // As text: whom it runs as need not be able to read the gateway's own files.
    argv: [host.python, '-I', '-S', '-B', '-c', launcherText(), String(firstLent)],
    cwd: '/',
    env: { LANG: 'C.UTF-8' },
    channel: program.channel,
    stdin: program.stdin,
    ...(user && { user }),
    lent,
    masked: masked.filter((fd) => fd > firstLent + 1 || fd < firstFreeFd(program)),
    supervisor,
  };
}

function systemPaths(host: HostFacts, network: ConfinedProgram['network']): readonly string[] {
  const files = network === 'host' ? host.networkFiles : [];
  return [...host.systemFolders, ...host.systemFiles, ...files, ...REQUIRED_FILES, ...DEVICES];
}

let text: string | undefined;

function launcherText(): string {
  text ??= readFileSync(LAUNCHER, 'utf8');
  return text;
}
