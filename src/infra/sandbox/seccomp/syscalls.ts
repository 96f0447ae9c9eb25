// Numbers of the system calls that the sandbox's filter speaks of, for the two machines it knows.

export interface Machine {
  /** AUDIT_ARCH_* of the kernel. */
  readonly auditArch: number;
  /** x86_64 has a second table behind this bit. */
  readonly secondTable?: number;
  /** The first number that the table does not know: no tool is allowed what was invented later. */
  readonly firstUnknown: number;
  readonly numbers: { readonly [name: string]: number };
}

/** Since Linux 5.1 new calls get one number on all machines. */
const SHARED = {
  pidfd_send_signal: 424, io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, open_tree: 428,
  move_mount: 429, fsopen: 430, fsconfig: 431, fsmount: 432, fspick: 433, clone3: 435, pidfd_getfd: 438,
  process_madvise: 440, mount_setattr: 442, quotactl_fd: 443, memfd_secret: 447, process_mrelease: 448,
  set_mempolicy_home_node: 450, fchmodat2: 452, statmount: 457, listmount: 458, setxattrat: 463,
  removexattrat: 466, open_tree_attr: 467, file_setattr: 469,
}; // oxfmt-ignore

const X86_64: Machine = {
  auditArch: 0xc000_003e,
  secondTable: 0x4000_0000,
  firstUnknown: 470,
  numbers: {
    ...SHARED,
    mmap: 9, ioctl: 16, shmget: 29, shmat: 30, shmctl: 31, socket: 41, sendmsg: 46, socketpair: 53, clone: 56,
    kill: 62, semget: 64, semop: 65, semctl: 66, shmdt: 67, msgget: 68, msgsnd: 69, msgrcv: 70, msgctl: 71,
    fcntl: 72, chmod: 90, fchmod: 91, chown: 92, fchown: 93, lchown: 94, ptrace: 101, syslog: 103, setpgid: 109,
    setsid: 112, rt_sigqueueinfo: 129, utime: 132, uselib: 134, personality: 135, ustat: 136, setpriority: 141,
    sched_setparam: 142, sched_setscheduler: 144, vhangup: 153, modify_ldt: 154, pivot_root: 155, _sysctl: 156,
    adjtimex: 159, chroot: 161, acct: 163, settimeofday: 164, mount: 165, umount2: 166, swapon: 167,
    swapoff: 168, reboot: 169, sethostname: 170, setdomainname: 171, iopl: 172, ioperm: 173, init_module: 175,
    delete_module: 176, query_module: 178, quotactl: 179, nfsservctl: 180, setxattr: 188, lsetxattr: 189,
    fsetxattr: 190, removexattr: 197, lremovexattr: 198, fremovexattr: 199, tkill: 200, sched_setaffinity: 203,
    io_setup: 206, lookup_dcookie: 212, semtimedop: 220, clock_settime: 227, tgkill: 234, utimes: 235,
    mbind: 237, set_mempolicy: 238, mq_open: 240, mq_unlink: 241, mq_timedsend: 242, mq_timedreceive: 243,
    mq_notify: 244, mq_getsetattr: 245, kexec_load: 246, add_key: 248, request_key: 249, keyctl: 250,
    ioprio_set: 251, inotify_init: 253, migrate_pages: 256, fchownat: 260, futimesat: 261, fchmodat: 268,
    unshare: 272, move_pages: 279, utimensat: 280, fallocate: 285, inotify_init1: 294, rt_tgsigqueueinfo: 297,
    perf_event_open: 298, fanotify_init: 300, prlimit64: 302, name_to_handle_at: 303, open_by_handle_at: 304,
    clock_adjtime: 305, sendmmsg: 307, setns: 308, process_vm_readv: 310, process_vm_writev: 311, kcmp: 312,
    finit_module: 313, sched_setattr: 314, memfd_create: 319, kexec_file_load: 320, bpf: 321, userfaultfd: 323,
  }, // oxfmt-ignore
};

const AARCH64: Machine = {
  auditArch: 0xc000_00b7,
  firstUnknown: 470,
  numbers: {
    ...SHARED,
    io_setup: 0, setxattr: 5, lsetxattr: 6, fsetxattr: 7, removexattr: 14, lremovexattr: 15, fremovexattr: 16,
    lookup_dcookie: 18, fcntl: 25, inotify_init1: 26, ioctl: 29, ioprio_set: 30, umount2: 39, mount: 40,
    pivot_root: 41, nfsservctl: 42, fallocate: 47, chroot: 51, fchmod: 52, fchmodat: 53, fchownat: 54,
    fchown: 55, vhangup: 58, quotactl: 60, utimensat: 88, acct: 89, personality: 92, unshare: 97,
    kexec_load: 104, init_module: 105, delete_module: 106, clock_settime: 112, syslog: 116, ptrace: 117,
    sched_setparam: 118, sched_setscheduler: 119, sched_setaffinity: 122, kill: 129, tkill: 130, tgkill: 131,
    rt_sigqueueinfo: 138, setpriority: 140, reboot: 142, setpgid: 154, setsid: 157, sethostname: 161,
    setdomainname: 162, settimeofday: 170, adjtimex: 171, mq_open: 180, mq_unlink: 181, mq_timedsend: 182,
    mq_timedreceive: 183, mq_notify: 184, mq_getsetattr: 185, msgget: 186, msgctl: 187, msgrcv: 188,
    msgsnd: 189, semget: 190, semctl: 191, semtimedop: 192, semop: 193, shmget: 194, shmctl: 195, shmat: 196,
    shmdt: 197, socket: 198, socketpair: 199, sendmsg: 211, add_key: 217, request_key: 218, keyctl: 219,
    clone: 220, mmap: 222, swapon: 224, swapoff: 225, mbind: 235, set_mempolicy: 237, migrate_pages: 238,
    move_pages: 239, rt_tgsigqueueinfo: 240, perf_event_open: 241, prlimit64: 261, fanotify_init: 262,
    name_to_handle_at: 264, open_by_handle_at: 265, clock_adjtime: 266, setns: 268, sendmmsg: 269,
    process_vm_readv: 270, process_vm_writev: 271, kcmp: 272, finit_module: 273, sched_setattr: 274,
    memfd_create: 279, bpf: 280, userfaultfd: 282, kexec_file_load: 294,
  }, // oxfmt-ignore
};

/** By Node's name for it (`process.arch`). Undefined: there is no filter for it, and so no sandbox. */
export function machineOf(arch: string): Machine | undefined {
  if (arch === 'x64') return X86_64;
  return arch === 'arm64' ? AARCH64 : undefined;
}
