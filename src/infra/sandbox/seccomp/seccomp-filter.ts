// The seccomp filter: which system calls a program may make. Assembled here, no toolchain.
import { answer, assemble, ifAtLeast, ifEqual, load, type Instruction } from './bpf.ts';
import * as rules from './call-rules.ts';
import { ALLOW, ENOSYS, EOPNOTSUPP, EPERM, KILL_PROCESS, refuseWith } from './call-rules.ts';
import * as calls from './refused-calls.ts';
import type { Machine } from './syscalls.ts';

export interface FilterPolicy {
  /** Address families that socket() gives. */
  readonly families: readonly number[];
  /** Without namespaces, the filter alone keeps a program from other processes of its user and from the machine. */
  readonly hasNamespaces: boolean;
  /** Whether Landlock keeps signals from all processes but the program's own. */
  readonly scopesSignals?: boolean;
  /** Whether files that it writes are counted by looking at them, and not held by a file system of their own. */
  readonly countsFiles: boolean;
  /** What bounds memory: a cgroup, a limit on the addresses of each process, or one on its private data. */
  readonly memoryBound: 'cgroup' | 'addresses' | 'data';
}

export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;

/** Offsets in `struct seccomp_data`. */
export const NUMBER = 0;
export const ARCH = 4;

export function seccompFilter(machine: Machine, policy: FilterPolicy): Buffer {
  return assemble(filterProgram(machine, policy));
}

function filterProgram(machine: Machine, policy: FilterPolicy): readonly Instruction[] {
  const { auditArch, secondTable, firstUnknown, numbers } = machine;
  const each = (names: readonly string[], then: readonly Instruction[]) =>
    // A call that this machine never had needs no rule.
    names.flatMap((name) => (numbers[name] === undefined ? [] : ifEqual(numbers[name], then)));
  const byName = refusalsOf(policy);
  return [
    load(ARCH),
    jumpOver(auditArch),
    answer(KILL_PROCESS),
    load(NUMBER),
    ...(secondTable === undefined ? [] : ifAtLeast(secondTable, [answer(KILL_PROCESS)])),
    ...ifAtLeast(firstUnknown, [answer(refuseWith(ENOSYS))]),
    ...byName.flatMap(([errno, names]) => each(names, [answer(refuseWith(errno))])),
    ...Object.entries(rulesOf(policy)).flatMap(([name, rule]) => each([name], rule)),
    answer(ALLOW),
  ];
}

function refusalsOf({ hasNamespaces, scopesSignals = false, countsFiles, memoryBound }: FilterPolicy) {
  const all: (readonly [errno: number, names: readonly string[]])[] = [
    [ENOSYS, calls.ABSENT],
    [EPERM, calls.REFUSED],
    [EPERM, calls.LASTING_IPC],
  ];
  if (!hasNamespaces) {
    if (!scopesSignals) all.push([EPERM, calls.SIGNALS]);
    all.push([EPERM, calls.GROUPS], [EPERM, calls.FILE_ATTRIBUTES], [ENOSYS, calls.WATCHES]);
  }
  if (countsFiles) all.push([EPERM, calls.DESCRIPTORS_IN_MESSAGES], [EOPNOTSUPP, calls.INSTANT_SPACE]);
  if (memoryBound !== 'cgroup') all.push([ENOSYS, calls.UNCOUNTED_MEMORY]);
  return all;
}

function rulesOf({ families, hasNamespaces, memoryBound }: FilterPolicy) {
  return {
    clone: rules.CLONE,
    personality: rules.PERSONALITY,
    socket: rules.socketRule(families),
    setpriority: rules.SETPRIORITY,
    ioprio_set: rules.IOPRIO_SET,
    prlimit64: rules.ITSELF_ALONE,
    sched_setscheduler: rules.ITSELF_ALONE,
    sched_setparam: rules.ITSELF_ALONE,
    sched_setattr: rules.ITSELF_ALONE,
    sched_setaffinity: rules.ITSELF_ALONE,
    ...(memoryBound === 'data' && { mmap: rules.MMAP_PRIVATE }),
    ...(hasNamespaces
      ? { ioctl: rules.IOCTL }
      : {
          ioctl: rules.IOCTL_WITHOUT_OWNERS,
          fcntl: rules.FCNTL_WITHOUT_OWNERS,
          socketpair: rules.SOCKETPAIR,
          utimensat: rules.UTIMENSAT,
        }),
  };
}

/** Skips the next instruction if the loaded word is `value`. */
function jumpOver(value: number): Instruction {
  const [test] = ifEqual(value, [answer(ALLOW)]);
  if (test === undefined) throw new Error('a test has an instruction');
  return { ...test, jt: 1, jf: 0 };
}
