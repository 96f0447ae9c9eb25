// Memory that bytes are added to, one after another.

/** `memory`, or where it has no room for so many bytes behind those in use, a larger one that begins with these. */
export function grownMemory(memory: Buffer, used: number, bytes: number): Buffer {
  const least = used + bytes;
  if (least <= memory.length) return memory;
  const larger = Buffer.allocUnsafeSlow(Math.max(least, 2 * memory.length));
  memory.copy(larger, 0, 0, used);
  return larger;
}
