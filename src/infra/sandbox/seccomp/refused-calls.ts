// The system calls that the filter refuses by name, and why. What depends on arguments is in call-rules.ts.
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Told that they do not exist, programs fall back to what does: clone() for clone3(), threads for io_uring. */
export const ABSENT = words(`
  clone3 io_uring_setup io_uring_enter io_uring_register io_setup
`);

/** What no tool needs and past escapes went through. */
export const REFUSED = words(`
  unshare setns pivot_root chroot mount umount2 open_tree open_tree_attr move_mount fsopen fsconfig
  fsmount fspick mount_setattr statmount listmount ptrace process_vm_readv process_vm_writev kcmp
  pidfd_getfd process_madvise process_mrelease bpf perf_event_open userfaultfd keyctl add_key
  request_key kexec_load kexec_file_load init_module finit_module delete_module query_module
  name_to_handle_at open_by_handle_at fanotify_init mbind set_mempolicy migrate_pages move_pages
  set_mempolicy_home_node swapon swapoff reboot sethostname setdomainname acct quotactl quotactl_fd
  syslog settimeofday clock_settime clock_adjtime adjtimex vhangup memfd_secret file_setattr iopl ioperm
  modify_ldt lookup_dcookie nfsservctl uselib ustat _sysctl
`);

/**
 * System V and POSIX IPC. What is made by them has no owner that ends: it outlives the call in a worker's namespace,
 * and without a namespace it is the whole machine's. POSIX semaphores and shared memory are files and stay usable.
 */
export const LASTING_IPC = words(`
  shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
  mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
`);

/** The process group is all that holds a program together where there is no pid namespace. */
export const GROUPS = words('setsid setpgid');

/** Others could be signalled, unless Landlock keeps a program's signals to its own processes. */
export const SIGNALS = words('kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal');

/**
 * Landlock does not ask who changes a file's mode, owner, times and attributes, nor who watches a folder: an owner
 * may, and the program is the same user as its neighbours, or as the gateway.
 */
export const FILE_ATTRIBUTES = words(`
  chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat
  setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
`);

/** Told that it cannot watch, a program looks again now and then. */
export const WATCHES = words('inotify_init inotify_init1');

/** Where the workspace is watched and not walled: a file that only a message on its way holds open is not seen. */
export const DESCRIPTORS_IN_MESSAGES = words('sendmsg sendmmsg');

/** The same: whole gigabytes taken by one call, between two looks. Programs write zeros instead. */
export const INSTANT_SPACE = words('fallocate');

/** Memory that no limit of a process counts. */
export const UNCOUNTED_MEMORY = words('memfd_create');
