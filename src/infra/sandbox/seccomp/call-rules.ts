// Rules on arguments: system calls that are let through for some of what they can do.
import { answer, ifAnyBit, ifEqual, load, type Instruction } from './bpf.ts';

export const ALLOW = 0x7fff_0000;
export const KILL_PROCESS = 0x8000_0000;
export const refuseWith = (errno: number): number => 0x0005_0000 | errno;
export const EPERM = 1;
export const ENOMEM = 12;
export const ENOSYS = 38;
export const EOPNOTSUPP = 95;
export const EAFNOSUPPORT = 97;

type Rule = readonly Instruction[];

/** Offsets in `struct seccomp_data`: the lower half of an argument, as the kernel looks at no more of these. */
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;
const THIRD_ARGUMENT = 32;
const FOURTH_ARGUMENT = 40;
const UPPER_HALF = 4;

const refuse = answer(refuseWith(EPERM));

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; CLONE_PARENT makes children that nobody buries. */
const NEW_NAMESPACE = 0x7e02_0000;
const CLONE_PARENT = 0x8000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const FIOSETOWN = 0x8901;
const SIOCSPGRP = 0x8902;
/** personality(0xffffffff) only asks. */
const ASK_PERSONALITY = 0xffff_ffff;

export const CLONE: Rule = [
  load(FIRST_ARGUMENT),
  // `>>> 0`: the result of a bitwise or is a signed number.
  ...ifAnyBit((NEW_NAMESPACE | CLONE_PARENT) >>> 0, [refuse]),
  answer(ALLOW),
];

export const PERSONALITY: Rule = [
  load(FIRST_ARGUMENT),
  ...ifEqual(0, [answer(ALLOW)]),
  ...ifEqual(ASK_PERSONALITY, [answer(ALLOW)]),
  refuse,
];

const refusing = (offset: number, values: readonly number[]): Rule => [
  load(offset),
  ...values.flatMap((value) => ifEqual(value, [refuse])),
  answer(ALLOW),
];

export const IOCTL = refusing(SECOND_ARGUMENT, [TIOCSTI, TIOCLINUX]);

/** Besides: who is told of input, and so whom the kernel signals in the caller's name. */
export const IOCTL_WITHOUT_OWNERS = refusing(SECOND_ARGUMENT, [TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP]);

/** F_SETOWN, F_SETSIG, F_SETOWN_EX: any signal to any process of the same user. */
export const FCNTL_WITHOUT_OWNERS = refusing(SECOND_ARGUMENT, [8, 10, 15]);

/** `pid` 0 is the caller itself; no process sets limits and scheduling of another. */
export const ITSELF_ALONE: Rule = [load(FIRST_ARGUMENT), ...ifEqual(0, [answer(ALLOW)]), refuse];

const ownPriority = (process: number): Rule => [
  load(FIRST_ARGUMENT),
  ...ifEqual(process, [load(SECOND_ARGUMENT), ...ifEqual(0, [answer(ALLOW)]), refuse]),
  refuse,
];

/** PRIO_PROCESS and IOPRIO_WHO_PROCESS, of the caller; never of a group or a whole user. */
export const SETPRIORITY = ownPriority(0);
export const IOPRIO_SET = ownPriority(1);

/** SOCK_STREAM and SOCK_SEQPACKET stay connected to each other; a datagram can be sent to any address. */
export const SOCKETPAIR: Rule = [load(SECOND_ARGUMENT), ...ifAnyBit(0b1010, [refuse]), answer(ALLOW)];

/** The times of an open file set to now, as touch does. */
export const UTIMENSAT: Rule = [
  ...[SECOND_ARGUMENT, THIRD_ARGUMENT].flatMap((offset) => [
    load(offset),
    ...ifAnyBit(0xffff_ffff, [refuse]),
    load(offset + UPPER_HALF),
    ...ifAnyBit(0xffff_ffff, [refuse]),
  ]),
  answer(ALLOW),
];

const MAP_SHARED = 1;
const MAP_ANONYMOUS = 0x20;

/** Shared memory behind no file: a limit on private data does not count it. */
export const MMAP_PRIVATE: Rule = [
  load(FOURTH_ARGUMENT),
  ...ifAnyBit(MAP_ANONYMOUS, [...ifAnyBit(MAP_SHARED, [answer(refuseWith(ENOMEM))]), answer(ALLOW)]),
  answer(ALLOW),
];

export function socketRule(families: readonly number[]): Rule {
  return [
    load(FIRST_ARGUMENT),
    ...families.flatMap((family) => ifEqual(family, [answer(ALLOW)])),
    answer(refuseWith(EAFNOSUPPORT)),
  ];
}
