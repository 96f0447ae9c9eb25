import { describe, expect, it } from 'vitest';
import {
  ARCH,
  EPERM,
  EAFNOSUPPORT,
  ENOSYS,
  NUMBER,
  AF_INET,
  AF_UNIX,
  ALLOW,
  KILL_PROCESS,
} from './seccomp-filter.ts';
import { refuseWith, seccompFilter, type FilterPolicy } from './seccomp-filter.ts';
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

const STRICT: FilterPolicy = { families: [AF_UNIX], holdsGroup: false };

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
    expect(verdict(machine, 'socket', [AF_INET], { families: [AF_INET], holdsGroup: false })).toBe(ALLOW);
    expect(verdict(machine, 'socket', [AF_UNIX], { families: [], holdsGroup: true })).toBe(
      refuseWith(EAFNOSUPPORT),
    );
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
      expect(verdict(machine, call, [], { families: [], holdsGroup: true })).toBe(refuseWith(EPERM));
    }
  });

  it('is short enough for the kernel', () => {
    expect(seccompFilter(machine, { families: [AF_UNIX], holdsGroup: true }).length / 8).toBeLessThan(4096);
  });
});

it('on x86_64, the second table of calls is death', () => {
  const machine = machineOf('x64') as Machine;
  for (const nr of [0x4000_0000, 0x4000_0001, 0x4000_0209]) expect(verdict(machine, nr)).toBe(KILL_PROCESS);
});

it.each(['ia32', 'riscv64', 's390x', ''])('there is no filter, and so no sandbox, for %j', (arch) => {
  expect(machineOf(arch)).toBeUndefined();
});
