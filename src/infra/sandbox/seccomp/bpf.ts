// Classic BPF, the language of seccomp filters: a few instructions, and how they look in memory.

export interface Instruction {
  readonly code: number;
  /** Instructions to skip when the test holds, and when it does not. */
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

/** Operation codes: load a word, jump if equal, greater or equal, any bit set, and return. */
export const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
export const RETURN = 0x06;

const RECORD_BYTES = 8;
const MAX_SKIP = 255;

export const load = (offset: number): Instruction => ({ code: LOAD, jt: 0, jf: 0, k: offset });
export const answer = (action: number): Instruction => ({ code: RETURN, jt: 0, jf: 0, k: action });

export const ifEqual = (value: number, then: readonly Instruction[]) => when(JUMP_EQUAL, value, then);
export const ifAtLeast = (value: number, then: readonly Instruction[]) => when(JUMP_AT_LEAST, value, then);
export const ifAnyBit = (mask: number, then: readonly Instruction[]) => when(JUMP_ANY_BIT, mask, then);

/** `struct sock_filter` after `struct sock_filter`, little-endian as both known machines are. */
export function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * RECORD_BYTES);
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    const at = index * RECORD_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(jt, at + 2);
    bytes.writeUInt8(jf, at + 3);
    bytes.writeUInt32LE(k, at + 4);
  }
  return bytes;
}

/** `then` must end in an answer: what is behind it is reached only when the test fails. */
function when(code: number, k: number, then: readonly Instruction[]): readonly Instruction[] {
  if (then.length > MAX_SKIP || then.at(-1)?.code !== RETURN)
    throw new Error('a block must be short and answer');
  return [{ code, jt: 0, jf: then.length, k }, ...then];
}
