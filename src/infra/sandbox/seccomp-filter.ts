// The seccomp filter: system calls that no tool needs and that past escapes went through. Assembled here, no toolchain.
import { answer, assemble, ifAnyBit, ifAtLeast, ifEqual, load, type Instruction } from './bpf.ts';
import type { Machine } from './syscalls.ts';

export interface FilterPolicy {
  /** Address families that socket() gives. */
  readonly families: readonly number[];
  /** Without a pid namespace, the process group is all that holds a tool together, and others could be signalled. */
  readonly holdsGroup: boolean;
}

export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;

export const ALLOW = 0x7fff_0000;
export const KILL_PROCESS = 0x8000_0000;
export const refuseWith = (errno: number): number => 0x0005_0000 | errno;
export const EPERM = 1;
export const ENOSYS = 38;
export const EAFNOSUPPORT = 97;

/** Offsets in `struct seccomp_data`; of an argument, the lower half: the kernel looks at no more of these. */
export const NUMBER = 0;
export const ARCH = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACE = 0x7e02_0000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** personality(0xffffffff) only asks. */
const ASK_PERSONALITY = 0xffff_ffff;

/** Told that they do not exist, programs fall back to what does: clone() for clone3(), threads for io_uring. */
const ABSENT = ['clone3', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'];

const REFUSED = `
  unshare setns pivot_root chroot mount umount2 open_tree open_tree_attr move_mount fsopen fsconfig
  fsmount fspick mount_setattr statmount listmount ptrace process_vm_readv process_vm_writev kcmp
  pidfd_getfd process_madvise process_mrelease bpf perf_event_open userfaultfd keyctl add_key
  request_key kexec_load kexec_file_load init_module finit_module delete_module query_module
  name_to_handle_at open_by_handle_at fanotify_init mbind set_mempolicy migrate_pages move_pages
  set_mempolicy_home_node swapon swapoff reboot sethostname setdomainname acct quotactl quotactl_fd
  syslog settimeofday clock_settime clock_adjtime adjtimex vhangup memfd_secret file_setattr iopl ioperm
  modify_ldt lookup_dcookie nfsservctl uselib ustat _sysctl
`
  .trim()
  .split(/\s+/);

const GROUP = ['setsid', 'setpgid', 'kill', 'tkill', 'tgkill', 'rt_sigqueueinfo', 'rt_tgsigqueueinfo'];
const OUTSIDE_SIGNALS = ['pidfd_send_signal'];

export function seccompFilter(machine: Machine, policy: FilterPolicy): Buffer {
  return assemble(filterProgram(machine, policy));
}

function filterProgram(machine: Machine, policy: FilterPolicy): readonly Instruction[] {
  const { auditArch, secondTable, firstUnknown, numbers } = machine;
  const refused = policy.holdsGroup ? [...REFUSED, ...GROUP, ...OUTSIDE_SIGNALS] : REFUSED;
  const each = (names: readonly string[], then: readonly Instruction[]) =>
    // A call that this machine never had needs no rule.
    names.flatMap((name) => (numbers[name] === undefined ? [] : ifEqual(numbers[name], then)));
  return [
    load(ARCH),
    jumpOver(auditArch),
    answer(KILL_PROCESS),
    load(NUMBER),
    ...(secondTable === undefined ? [] : ifAtLeast(secondTable, [answer(KILL_PROCESS)])),
    ...ifAtLeast(firstUnknown, [answer(refuseWith(ENOSYS))]),
    ...each(ABSENT, [answer(refuseWith(ENOSYS))]),
    ...each(refused, [answer(refuseWith(EPERM))]),
    ...each(['clone'], CLONE),
    ...each(['personality'], PERSONALITY),
    ...each(['ioctl'], IOCTL),
    ...each(['socket'], socketRule(policy.families)),
    answer(ALLOW),
  ];
}

/** Skips the next instruction if the loaded word is `value`. */
function jumpOver(value: number): Instruction {
  const [test] = ifEqual(value, [answer(ALLOW)]);
  if (test === undefined) throw new Error('a test has an instruction');
  return { ...test, jt: 1, jf: 0 };
}

const CLONE = [load(FIRST_ARGUMENT), ...ifAnyBit(NEW_NAMESPACE, [answer(refuseWith(EPERM))]), answer(ALLOW)];

const PERSONALITY = [
  load(FIRST_ARGUMENT),
  ...ifEqual(0, [answer(ALLOW)]),
  ...ifEqual(ASK_PERSONALITY, [answer(ALLOW)]),
  answer(refuseWith(EPERM)),
];

const IOCTL = [
  load(SECOND_ARGUMENT),
  ...ifEqual(TIOCSTI, [answer(refuseWith(EPERM))]),
  ...ifEqual(TIOCLINUX, [answer(refuseWith(EPERM))]),
  answer(ALLOW),
];

function socketRule(families: readonly number[]): readonly Instruction[] {
  return [
    load(FIRST_ARGUMENT),
    ...families.flatMap((family) => ifEqual(family, [answer(ALLOW)])),
    answer(refuseWith(EAFNOSUPPORT)),
  ];
}
