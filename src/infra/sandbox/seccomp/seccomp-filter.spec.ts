import { describe, expect, it } from 'vitest';
import {
  ALLOW,
  EAFNOSUPPORT,
  ENOMEM,
  ENOSYS,
  EOPNOTSUPP,
  EPERM,
  KILL_PROCESS,
  refuseWith,
} from './call-rules.ts';
import { AF_INET, AF_UNIX, ARCH, NUMBER, seccompFilter, type FilterPolicy } from './seccomp-filter.ts';
import { machineOf, type Machine } from './syscalls.ts';

/** What the kernel does with a filter: the five instructions that ours are made of, and nothing else. */
function interpret(program: Buffer, data: Buffer): number {
  let accumulator = 0;
  for (let at = 0; at < program.length; at += 8) {
    const code = program.readUInt16LE(at);
    const k = program.readUInt32LE(at + 4);
    const jump = (holds: boolean) => void (at += 8 * program.readUInt8(holds ? at + 2 : at + 3));
    switch (code) {
      case 0x20:
        if (k % 4 !== 0) throw new Error('the kernel refuses a load between words');
        accumulator = data.readUInt32LE(k);
        break;
      case 0x15:
        jump(accumulator === k);
        break;
      case 0x35:
        jump(accumulator >= k);
        break;
      case 0x45:
        jump((accumulator & k) !== 0);
        break;
      case 0x06:
        return k;
      default:
        throw new Error(`no such instruction: ${code}`);
    }
  }
  throw new Error('the kernel refuses a program that runs off its end');
}

const STRICT: FilterPolicy = {
  families: [AF_UNIX],
  hasNamespaces: true,
  countsFiles: false,
  memoryBound: 'cgroup',
};
const BARE: FilterPolicy = { families: [], hasNamespaces: false, countsFiles: true, memoryBound: 'data' };

function verdict(
  machine: Machine,
  nr: number | string,
  args: readonly number[] = [],
  policy = STRICT,
  arch = machine.auditArch,
) {
  const data = Buffer.alloc(64);
  const number = typeof nr === 'string' ? machine.numbers[nr] : nr;
  if (number === undefined) throw new Error(`${nr} is not in the table`);
  data.writeUInt32LE(number, NUMBER);
  data.writeUInt32LE(arch, ARCH);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * index);
  return interpret(seccompFilter(machine, policy), data);
}

const MACHINES = ['x64', 'arm64'].map((name) => ({ name, machine: machineOf(name) as Machine }));

describe.each(MACHINES)('the filter for $name', ({ name, machine }) => {
  it('lets everyday calls through', () => {
    const everyday = name === 'x64' ? [0, 1, 2, 9, 39, 57, 59, 231, 257] : [56, 63, 64, 93, 172, 221, 222];
    for (const nr of everyday) expect(verdict(machine, nr)).toBe(ALLOW);
  });

  it.each([
    'unshare',
    'mount',
    'ptrace',
    'bpf',
    'keyctl',
    'setns',
    'pivot_root',
    'open_tree',
    'kexec_load',
    'userfaultfd',
  ])('refuses %s', (call) => {
    expect(verdict(machine, call)).toBe(refuseWith(EPERM));
  });

  it.each(['io_uring_setup', 'io_uring_enter', 'clone3'])('says that %s does not exist', (call) => {
    expect(verdict(machine, call)).toBe(refuseWith(ENOSYS));
  });

  it('says that calls which were invented later do not exist', () => {
    for (const nr of [470, 471, 1000, 0x3fff_ffff]) expect(verdict(machine, nr)).toBe(refuseWith(ENOSYS));
  });

  it('kills who speaks the language of another machine', () => {
    for (const arch of [0, 0x4000_0003, 0xc000_003e, 0xc000_00b7, 0x4000_0028]) {
      expect(verdict(machine, 'ioctl', [], STRICT, arch)).toBe(
        arch === machine.auditArch ? ALLOW : KILL_PROCESS,
      );
    }
  });

  it('lets clone make processes and threads, and no namespaces', () => {
    expect(verdict(machine, 'clone', [17])).toBe(ALLOW);
    expect(verdict(machine, 'clone', [0x3d0f00])).toBe(ALLOW);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(verdict(machine, 'clone', [flag | 17])).toBe(refuseWith(EPERM));
    }
  });

  it('gives sockets of the families it names alone, whatever the upper half of the argument holds', () => {
    expect(verdict(machine, 'socket', [AF_UNIX])).toBe(ALLOW);
    for (const family of [0, 2, 10, 16, 17, 38, 40, 2 ** 32 + 2]) {
      expect(verdict(machine, 'socket', [family])).toBe(refuseWith(EAFNOSUPPORT));
    }
    expect(verdict(machine, 'socket', [AF_INET], { ...STRICT, families: [AF_INET] })).toBe(ALLOW);
    expect(verdict(machine, 'socket', [AF_UNIX], BARE)).toBe(refuseWith(EAFNOSUPPORT));
  });

  it('lets nobody type on a terminal, and asks about personality but changes none', () => {
    expect(verdict(machine, 'ioctl', [0, 0x5401])).toBe(ALLOW);
    expect(verdict(machine, 'ioctl', [0, 0x5412])).toBe(refuseWith(EPERM));
    expect(verdict(machine, 'ioctl', [0, 2 ** 32 + 0x5412])).toBe(refuseWith(EPERM));
    expect(verdict(machine, 'personality', [0xffff_ffff])).toBe(ALLOW);
    expect(verdict(machine, 'personality', [0x0040000])).toBe(refuseWith(EPERM));
  });

  it('keeps the process group together only where nothing else does', () => {
    for (const call of ['setsid', 'setpgid', 'kill', 'tgkill']) {
      expect(verdict(machine, call)).toBe(ALLOW);
      expect(verdict(machine, call, [], BARE)).toBe(refuseWith(EPERM));
    }
  });

  it.each(['shmget', 'shmat', 'semget', 'semop', 'msgget', 'msgsnd', 'mq_open', 'mq_timedsend'])(
    'refuses %s on every rung: what it makes outlives the call',
    (call) => {
      for (const policy of [STRICT, BARE]) expect(verdict(machine, call, [], policy)).toBe(refuseWith(EPERM));
    },
  );

  it.each(['prlimit64', 'sched_setscheduler', 'sched_setparam', 'sched_setattr', 'sched_setaffinity'])(
    'lets %s reach the caller itself alone, on every rung',
    (call) => {
      for (const policy of [STRICT, BARE]) {
        expect(verdict(machine, call, [0], policy)).toBe(ALLOW);
        expect(verdict(machine, call, [2 ** 32], policy)).toBe(ALLOW);
        for (const pid of [1, 4711, 0xffff_ffff, 2 ** 32 + 1])
          expect(verdict(machine, call, [pid], policy)).toBe(refuseWith(EPERM));
      }
    },
  );

  it('lets a process set its own priority, never that of another, of a group or of a user', () => {
    for (const [call, own] of [
      ['setpriority', 0],
      ['ioprio_set', 1],
    ] as const) {
      expect(verdict(machine, call, [own, 0])).toBe(ALLOW);
      expect(verdict(machine, call, [own, 1])).toBe(refuseWith(EPERM));
      for (const which of [0, 1, 2, 3].filter((each) => each !== own))
        expect(verdict(machine, call, [which, 0])).toBe(refuseWith(EPERM));
    }
  });

  it('gives nobody a child that is not its own', () => {
    expect(verdict(machine, 'clone', [0x8000 | 17])).toBe(refuseWith(EPERM));
  });

  it('without namespaces, lets nobody name who is signalled about input', () => {
    for (const command of [8, 10, 15]) {
      expect(verdict(machine, 'fcntl', [0, command])).toBe(ALLOW);
      expect(verdict(machine, 'fcntl', [0, command], BARE)).toBe(refuseWith(EPERM));
    }
    for (const command of [0, 1, 2, 3, 4, 1030])
      expect(verdict(machine, 'fcntl', [0, command], BARE)).toBe(ALLOW);
    for (const request of [0x8901, 0x8902, 0x5412])
      expect(verdict(machine, 'ioctl', [0, request], BARE)).toBe(refuseWith(EPERM));
  });

  it('without namespaces, joins sockets to each other and to no address', () => {
    for (const type of [1, 5, 0x801, 0x80001, 0x80805])
      expect(verdict(machine, 'socketpair', [1, type], BARE)).toBe(ALLOW);
    for (const type of [2, 3, 0x802, 0x80003, 10])
      expect(verdict(machine, 'socketpair', [1, type], BARE)).toBe(refuseWith(EPERM));
    expect(verdict(machine, 'socketpair', [1, 2])).toBe(ALLOW);
  });

  it('without namespaces, lets nobody change what files are, but for touching an open one', () => {
    for (const call of [
      'fchmod',
      'fchmodat',
      'fchownat',
      'setxattr',
      'fsetxattr',
      'removexattrat',
      'fchmodat2',
    ]) {
      expect(verdict(machine, call)).toBe(ALLOW);
      expect(verdict(machine, call, [], BARE)).toBe(refuseWith(EPERM));
    }
    expect(verdict(machine, 'utimensat', [3, 0, 0, 0], BARE)).toBe(ALLOW);
    for (const args of [
      [3, 1, 0],
      [3, 2 ** 32, 0],
      [3, 0, 1],
      [3, 0, 2 ** 33],
    ])
      expect(verdict(machine, 'utimensat', args, BARE)).toBe(refuseWith(EPERM));
    expect(verdict(machine, 'inotify_init1', [], BARE)).toBe(refuseWith(ENOSYS));
  });

  it('where files are counted, takes no space at once and hides no open file in a message', () => {
    expect(verdict(machine, 'fallocate', [], BARE)).toBe(refuseWith(EOPNOTSUPP));
    expect(verdict(machine, 'sendmsg', [], BARE)).toBe(refuseWith(EPERM));
    for (const call of ['fallocate', 'sendmsg']) expect(verdict(machine, call)).toBe(ALLOW);
  });

  it('without a cgroup, gives no memory that the limits of a process do not count', () => {
    const mapped = (flags: number, memoryBound: FilterPolicy['memoryBound']) =>
      verdict(machine, 'mmap', [0, 4096, 3, flags], { ...STRICT, memoryBound });
    const made = (memoryBound: FilterPolicy['memoryBound']) =>
      verdict(machine, 'memfd_create', [], { ...STRICT, memoryBound });
    expect([made('cgroup'), made('addresses'), made('data')]).toEqual([
      ALLOW,
      refuseWith(ENOSYS),
      refuseWith(ENOSYS),
    ]);
    for (const flags of [0x21, 0x23, 0x4021]) {
      expect(mapped(flags, 'data')).toBe(refuseWith(ENOMEM));
      expect([mapped(flags, 'addresses'), mapped(flags, 'cgroup')]).toEqual([ALLOW, ALLOW]);
    }
    for (const flags of [0x22, 0x01, 0x02, 0x4022]) expect(mapped(flags, 'data')).toBe(ALLOW);
  });

  it('is short enough for the kernel', () => {
    expect(seccompFilter(machine, BARE).length / 8).toBeLessThan(4096);
  });
});

it('on x86_64, the second table of calls is death', () => {
  const machine = machineOf('x64') as Machine;
  for (const nr of [0x4000_0000, 0x4000_0001, 0x4000_0209]) expect(verdict(machine, nr)).toBe(KILL_PROCESS);
});

it.each(['ia32', 'riscv64', 's390x', ''])('there is no filter, and so no sandbox, for %j', (arch) => {
  expect(machineOf(arch)).toBeUndefined();
});

it('both machines know the same calls, but for those that only one of them ever had', () => {
  const [x64 = [], arm64 = []] = MACHINES.map(({ machine }) => Object.keys(machine.numbers));
  expect(arm64.filter((name) => !x64.includes(name))).toEqual([]);
  const old =
    'modify_ldt _sysctl uselib ustat query_module iopl ioperm inotify_init chmod chown lchown utime utimes futimesat';
  expect(x64.filter((name) => !arm64.includes(name)).toSorted()).toEqual(old.split(' ').toSorted());
});
