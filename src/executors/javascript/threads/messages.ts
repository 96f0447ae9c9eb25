// Messages between the gateway and a worker thread. What comes from a worker is read as from anybody.
import type { MessagePort } from 'node:worker_threads';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import type { CallEvent } from '../../../contract/call/tool-call.ts';
import { MOST_LEVELS, tooMuchIn, type TooMuch } from '../../../lib/json/json-bounds.ts';
import { LargeJsonError } from '../../../lib/large-json/limits.ts';
import { parseInSlices } from '../../../lib/large-json/parse-json.ts';
import type { CallMeta } from '../handler-context.ts';
import type { StepError } from '../tool-call-error.ts';

/** A module as it was when it was checked: threads that start later run the same text. */
export interface HandlerText {
  readonly url: string;
  readonly text: string;
  /** sha256 by URL of what it may import by relative paths: a thread runs nothing else in its place. Left out: whatever is there. */
  readonly pinned?: { readonly [url: string]: string } | undefined;
}

export interface WorkerLimits {
  readonly maxMessageBytes: number;
}

/** Shared memory that the thread has made, in KiB: written by it alone, read by its process. */
export type SharedMemoryMeter = Int32Array<SharedArrayBuffer>;

/** The first message, on the thread's public port; that port is closed then. */
export interface Greeting {
  readonly port: MessagePort;
  readonly sharedMemory: SharedMemoryMeter;
  readonly limits: WorkerLimits;
}

export type ToWorker =
  | { readonly kind: 'load'; readonly module: HandlerText }
  | { readonly kind: 'check'; readonly id: string; readonly module: HandlerText }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly url: string;
      readonly name: string;
      readonly body: string;
    }
  | { readonly kind: 'cancel'; readonly id: string; readonly type: string; readonly message: string }
  | { readonly kind: 'reply'; readonly id: string; readonly step: number; readonly body: string };

/** The body of a call, as JSON text. */
export interface CallBody {
  readonly arguments: JsonObject;
  readonly config: JsonObject;
  readonly secrets: JsonObject;
  readonly meta: CallMeta;
}

/** The body of a reply, as JSON text. */
export type StepReply =
  | { readonly ok: true; readonly data: JsonValue }
  | { readonly ok: false; readonly error: StepError };

const KINDS = [
  'ready',
  'exports',
  'returned',
  'thrown',
  'unusable',
  'event',
  'printed',
  'step',
  'cancelling',
  'stray',
  'idle',
] as const;
type Kind = (typeof KINDS)[number];

export interface FromWorker {
  readonly kind: Kind;
  /** Of the request it belongs to; empty: to none. */
  readonly id: string;
  /** Text, JSON but for `unusable`. */
  readonly body: string;
  /** The thread is not fit for another call. */
  readonly spoiled: boolean;
}

/** The worker did something that the code around the handlers never does. It must be ended. */
export class ProtocolViolation extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'ProtocolViolation';
  }
}

/** The body of `idle` while something that a call started is not over; empty: nothing is. */
export const LEFTOVERS = 'LEFTOVERS';
/** So often a thread with leftovers says that it is idle. */
export const LEFTOVERS_EVERY_MS = 100;

const KNOWN: ReadonlySet<unknown> = new Set(KINDS);
const MAX_ID = 64;
/** What an answer or an event has around what is bounded. */
const EXTRA_LENGTH = 65_536;

/** Of what a worker sends, in characters. */
export function longestBody({ maxMessageBytes }: WorkerLimits): number {
  return maxMessageBytes + EXTRA_LENGTH;
}

export function readMessage(message: unknown, limits: WorkerLimits): FromWorker {
  if (typeof message !== 'object' || message === null) throw new ProtocolViolation('no message');
  const { kind, id, body, spoiled } = message as { readonly [field: string]: unknown };
  const right =
    KNOWN.has(kind) &&
    typeof id === 'string' &&
    id.length <= MAX_ID &&
    typeof body === 'string' &&
    body.length <= longestBody(limits) &&
    typeof spoiled === 'boolean';
  if (!right) throw new ProtocolViolation('the message has fields of the wrong type or size');
  return { kind: kind as Kind, id, body, spoiled };
}

/** Undefined: more than anything that is passed on. Throws ProtocolViolation for what is no JSON. */
export function readBody(body: string): JsonValue | undefined {
  return tooMuchInBody(body) === undefined ? parseBody(body) : undefined;
}

/** Of a text that may be JSON: whether it is nested too deep, or holds too much, to be read. */
export function tooMuchInBody(body: string): TooMuch | undefined {
  // A nesting of n needs 2n characters: short ones are spared the look.
  return body.length > 2 * MOST_LEVELS ? tooMuchIn(body) : undefined;
}

/** Throws ProtocolViolation for what is no JSON. */
export function parseBody(body: string): JsonValue {
  try {
    return JSON.parse(body) as JsonValue;
  } catch {
    throw new ProtocolViolation('the message is not JSON');
  }
}

/** The same, in slices. Undefined: a name in it is too long to be read. */
export async function parseLargeBody(body: string): Promise<JsonValue | undefined> {
  try {
    return await parseInSlices(body);
  } catch (error) {
    if (error instanceof LargeJsonError && error.reason === 'TOO_LONG') return undefined;
    throw new ProtocolViolation('the message is not JSON');
  }
}

export function readEvent(body: string): CallEvent {
  const said = readBody(body);
  if (isJsonObject(said)) {
    const { kind, level, message, fraction, data } = said;
    const text = message === undefined || typeof message === 'string';
    if (kind === 'partial' && data !== undefined) return { kind, data };
    if (kind === 'log' && isLevel(level) && typeof message === 'string') return { kind, level, message };
    if (kind === 'progress' && text && (fraction === undefined || typeof fraction === 'number')) {
      return {
        kind,
        ...(fraction !== undefined && { fraction }),
        ...(message !== undefined && { message }),
      };
    }
  }
  throw new ProtocolViolation('the event is none');
}

export interface StepRequest {
  readonly step: number;
  readonly tool: string;
  readonly arguments: JsonObject;
}

export function readStep(body: string): StepRequest {
  const said = readBody(body);
  if (isJsonObject(said)) {
    const { step, tool, arguments: args } = said;
    if (typeof step === 'number' && typeof tool === 'string' && isJsonObject(args)) {
      return { step, tool, arguments: args };
    }
  }
  throw new ProtocolViolation('the call of another tool is none, or too deep');
}

export type PrintedLevel = 'info' | 'warn';

export function readPrinted(body: string): { readonly level: PrintedLevel; readonly text: string } {
  const said = readBody(body);
  if (isJsonObject(said)) {
    const { level, text } = said;
    if ((level === 'info' || level === 'warn') && typeof text === 'string') return { level, text };
  }
  throw new ProtocolViolation('the output is none');
}

function isLevel(level: unknown): level is 'debug' | 'info' | 'warn' | 'error' {
  return level === 'debug' || level === 'info' || level === 'warn' || level === 'error';
}
