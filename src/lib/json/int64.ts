// Integers of 64 bits as text.

/** As JSON writes an integer. */
const DIGITS = /^(?:0|-?[1-9]\d{0,18})$/;

/** Undefined: no integer of that range, or not written as one. */
export function int64Of(text: string): bigint | undefined {
  if (!DIGITS.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
