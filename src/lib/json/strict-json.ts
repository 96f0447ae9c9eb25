// Strict JSON: refuses, typed and placed, what a hostile body can do to those who read it after JSON.parse.
import { scanJson, type LargeInteger } from './json-scanner.ts';
import { toPointer } from './json-pointer.ts';
import { syntaxFault } from './syntax-fault.ts';
import {
  DEFAULT_JSON_LIMITS,
  faultOfKey,
  faultOfKeyCharacters,
  faultOfString,
  isOutOfRange,
  StrictJsonError,
  TOO_LARGE_NUMBER,
  tooDeep,
  tooManyKeys,
  tooManyTokens,
  type Fault,
  type JsonLimits,
} from './strict-json-error.ts';

export { StrictJsonError, type JsonLimits, type StrictJsonReason } from './strict-json-error.ts';

/** Parses, or throws StrictJsonError. The text is scanned once and only then given to JSON.parse. */
export function parseStrictJson(text: string, limits?: Partial<JsonLimits>): unknown {
  scanJson(text, limitsOf(limits));
  return parsed(text);
}

export interface WithLargeIntegers {
  /** With text in place of each such integer: its digits. */
  readonly value: unknown;
  /** Pointers to them. */
  readonly largeIntegers: readonly string[];
}

/** The same, but integers of 64 bits that no double holds are read too, for those who know what to do with them. */
export function parseWithLargeIntegers(text: string, limits?: Partial<JsonLimits>): WithLargeIntegers {
  const found: LargeInteger[] = [];
  scanJson(text, limitsOf(limits), found);
  if (found.length === 0) return { value: parsed(text), largeIntegers: NONE };
  return { value: parsed(quoted(text, found)), largeIntegers: found.map(({ pointer }) => pointer) };
}

const NONE: readonly string[] = Object.freeze([]);

function quoted(text: string, found: readonly LargeInteger[]): string {
  let written = '';
  let from = 0;
  for (const { start, end } of found) {
    written += `${text.slice(from, start)}"${text.slice(start, end)}"`;
    from = end;
  }
  return written + text.slice(from);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new StrictJsonError('SYNTAX', 'is not valid JSON', '', syntaxFault(text));
  }
}

/** The refusal of such an integer where none is expected. */
export function largeIntegerRefused(pointer: string): StrictJsonError {
  return new StrictJsonError(TOO_LARGE_NUMBER.reason, TOO_LARGE_NUMBER.message, pointer);
}

/** The same limits for a value that was decoded elsewhere (a protobuf Struct). Throws StrictJsonError. */
export function checkJsonValue(value: unknown, limits?: Partial<JsonLimits>): void {
  const bounds = limitsOf(limits);
  const frames: Frame[] = [];
  let tokens = 0;
  let keys = 0;
  let current = value;
  for (;;) {
    const fault = faultOfValue(current, frames.length, bounds);
    if (fault !== undefined) throw refusal(fault, frames);
    tokens += 1;
    if (typeof current === 'object' && current !== null) {
      const frame = frameOf(current);
      keys += frame.keys === undefined ? 0 : frame.size;
      frames.push(frame);
    }
    let top = frames.at(-1);
    while (top !== undefined && top.next === top.size) {
      frames.pop();
      top = frames.at(-1);
    }
    if (keys > bounds.keys) throw refusal(tooManyKeys(bounds), []);
    if (tokens + keys > bounds.tokens) throw refusal(tooManyTokens(bounds), []);
    if (top === undefined) return;
    current = advance(top, frames, bounds);
  }
}

/** A container being walked. Without keys it is an array. */
interface Frame {
  readonly container: { readonly [key: string | number]: unknown };
  readonly keys: readonly string[] | undefined;
  readonly size: number;
  next: number;
}

function frameOf(container: object): Frame {
  const keys = Array.isArray(container) ? undefined : Object.keys(container);
  const size = Array.isArray(container) ? container.length : (keys?.length ?? 0);
  return { container: container as Frame['container'], keys, size, next: 0 };
}

/** The next member of the innermost container; its key is checked on the way. */
function advance(frame: Frame, frames: readonly Frame[], limits: JsonLimits): unknown {
  const key = frame.keys?.[frame.next];
  if (key !== undefined) {
    const outer = frames.at(-2);
    const fault = faultOfKey(key, outer && stepOf(outer), limits) ?? faultOfKeyCharacters(key);
    if (fault !== undefined) throw refusal(fault, frames.slice(0, -1));
  }
  frame.next += 1;
  return frame.container[key ?? frame.next - 1];
}

function faultOfValue(value: unknown, depth: number, limits: JsonLimits): Fault | undefined {
  const type = typeof value;
  if (type === 'boolean' || value === null) return undefined;
  if (typeof value === 'string') return faultOfString(value, limits);
  if (typeof value === 'number') return isOutOfRange(value) ? TOO_LARGE_NUMBER : undefined;
  if (type === 'object') return depth >= limits.depth ? tooDeep(limits) : undefined;
  return { reason: 'SYNTAX', message: `must be a JSON value, found ${type}` };
}

/** The step into the member last taken from a container. */
function stepOf({ keys, next }: Frame): string | number {
  return keys?.[next - 1] ?? next - 1;
}

function refusal({ reason, message }: Fault, frames: readonly Frame[]): StrictJsonError {
  return new StrictJsonError(reason, message, toPointer(frames.map(stepOf)));
}

function limitsOf(limits: Partial<JsonLimits> | undefined): JsonLimits {
  return limits === undefined ? DEFAULT_JSON_LIMITS : { ...DEFAULT_JSON_LIMITS, ...limits };
}
