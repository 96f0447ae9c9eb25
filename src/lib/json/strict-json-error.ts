// Why strict JSON refused a text or a value, where, and the limits it goes by.
import { childPointer } from './json-pointer.ts';

export interface JsonLimits {
  /** Levels of objects and arrays. */
  readonly depth: number;
  /** Values and keys in all. */
  readonly tokens: number;
  /** Keys in all: what costs most to read, to hash and to check. */
  readonly keys: number;
  /** Bytes of UTF-8. */
  readonly keyBytes: number;
  readonly stringBytes: number;
}

export const DEFAULT_JSON_LIMITS: JsonLimits = {
  depth: 32,
  tokens: 50_000,
  keys: 16_384,
  keyBytes: 256,
  stringBytes: 256 * 1024,
};

export type StrictJsonReason =
  | 'SYNTAX'
  | 'TOO_DEEP'
  | 'TOO_MANY_TOKENS'
  | 'KEY_TOO_LONG'
  | 'STRING_TOO_LONG'
  | 'DUPLICATE_KEY'
  | 'FORBIDDEN_KEY'
  | 'NUL'
  | 'LONE_SURROGATE'
  | 'NUMBER_RANGE';

export class StrictJsonError extends Error {
  readonly reason: StrictJsonReason;
  /** RFC 6901: the value refused, or the object whose key was. Empty where only the offset is known. */
  readonly pointer: string;
  /** In UTF-16 units from the start of the text. Absent for values that never were text. */
  readonly offset?: number;

  constructor(reason: StrictJsonReason, message: string, pointer: string, offset?: number) {
    super(message);
    this.name = 'StrictJsonError';
    this.reason = reason;
    this.pointer = pointer;
    if (offset !== undefined) this.offset = offset;
  }
}

/** Half a sentence that begins with the place: a model is often shown the message alone. */
export function faultInWords({
  reason,
  pointer,
  message,
  offset,
}: Pick<StrictJsonError, 'reason' | 'pointer' | 'message' | 'offset'>): string {
  const where = reason === 'SYNTAX' && offset !== undefined ? `, from character ${offset + 1} on` : '';
  return `${pointer === '' ? 'it' : pointer} ${message}${where}`;
}

/** What is wrong with a key or a value, before its place is known. Messages never repeat a value. */
export interface Fault {
  readonly reason: StrictJsonReason;
  readonly message: string;
}

export const TOO_LARGE_NUMBER: Fault = {
  reason: 'NUMBER_RANGE',
  message: 'must be a finite number within ±(2^53 − 1): send larger ones as strings',
};

export function tooDeep({ depth }: JsonLimits): Fault {
  return { reason: 'TOO_DEEP', message: `must not be nested deeper than ${depth} levels` };
}

export function tooManyTokens({ tokens }: JsonLimits): Fault {
  return { reason: 'TOO_MANY_TOKENS', message: `must not hold more than ${tokens} values and keys` };
}

export function tooManyKeys({ keys }: JsonLimits): Fault {
  return { reason: 'TOO_MANY_TOKENS', message: `must not hold more than ${keys} keys` };
}

/** Numbers that not every reader of JSON understands alike. */
export function isOutOfRange(value: number): boolean {
  return !(Math.abs(value) <= Number.MAX_SAFE_INTEGER);
}

export function faultOfString(text: string, { stringBytes }: JsonLimits): Fault | undefined {
  if (exceeds(text, stringBytes)) {
    return { reason: 'STRING_TOO_LONG', message: `must not be longer than ${stringBytes} bytes` };
  }
  return faultOfText(text);
}

/** Of a text whose length is bounded elsewhere. */
export function faultOfText(text: string): Fault | undefined {
  return faultOfCharacters(text, 'must not hold');
}

/** `parent` is the step that leads to the object which has the key. */
export function faultOfKey(
  key: string,
  parent: string | number | undefined,
  { keyBytes }: JsonLimits,
): Fault | undefined {
  if (exceeds(key, keyBytes)) {
    return { reason: 'KEY_TOO_LONG', message: `must not have a key longer than ${keyBytes} bytes` };
  }
  // Both reach an object's prototype when somebody copies them carelessly.
  if (key === '__proto__' || (key === 'prototype' && parent === 'constructor')) {
    return { reason: 'FORBIDDEN_KEY', message: `must not have the key "${key}"` };
  }
  return undefined;
}

export function faultOfKeyCharacters(key: string): Fault | undefined {
  return faultOfCharacters(key, 'must not have a key with');
}

function faultOfCharacters(text: string, must: string): Fault | undefined {
  if (text.includes('\0')) return { reason: 'NUL', message: `${must} a NUL character` };
  if (!text.isWellFormed()) return { reason: 'LONE_SURROGATE', message: `${must} half of a surrogate pair` };
  return undefined;
}

function exceeds(text: string, bytes: number): boolean {
  // No UTF-16 unit takes more than three bytes of UTF-8, so most texts need no counting.
  if (text.length * 3 <= bytes) return false;
  return text.length > bytes || Buffer.byteLength(text) > bytes;
}

export function duplicateKey(parent: string, key: string, offset: number): StrictJsonError {
  return new StrictJsonError(
    'DUPLICATE_KEY',
    'must not appear twice in its object',
    childPointer(parent, key),
    offset,
  );
}
