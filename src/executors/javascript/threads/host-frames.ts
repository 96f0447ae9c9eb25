// Frames between the gateway and a host process: a head of JSON, a line feed, and the body of the message as it is.
import { encodeFrame } from '../../../lib/bytes/frames.ts';
import { isJsonObject } from '../../../contract/json.ts';
import { longestBody, ProtocolViolation, type FromWorker, type ToWorker } from './messages.ts';

/** What a host process is told when it starts. */
export interface HostLimits {
  readonly maxMessageBytes: number;
  readonly maxMemoryBytes: number;
}

export type ToHost =
  | { readonly kind: 'open' | 'end'; readonly thread: number }
  | { readonly kind: 'post'; readonly thread: number; readonly message: ToWorker };

/** How a thread came to its end by itself. */
export type ThreadNews =
  | { readonly kind: 'exhausted' | 'violation' }
  | { readonly kind: 'failed'; readonly why: string }
  /** Nothing comes after it. */
  | { readonly kind: 'gone'; readonly code: number };

export type FromHost =
  | { readonly thread: number; readonly news: ThreadNews }
  /** Not yet read as a message of a worker. */
  | { readonly thread: number; readonly message: { readonly [field: string]: unknown } };

const LINE_FEED = 0x0a;
/** A character is never more in UTF-8. */
const BYTES_PER_CHARACTER = 3;
const MAX_HEAD_BYTES = 16_384;

export function largestFrame(limits: HostLimits): number {
  return BYTES_PER_CHARACTER * longestBody(limits) + MAX_HEAD_BYTES;
}

export function encodeToHost(order: ToHost): Buffer {
  if (order.kind !== 'post' || !('body' in order.message)) return encodeFrame(`${JSON.stringify(order)}\n`);
  const { body, ...message } = order.message;
  return encodeFrame(`${JSON.stringify({ ...order, message })}\n${body}`);
}

/** The host believes the gateway. */
export function readToHost(frame: Buffer): ToHost {
  const [head, body] = split(frame);
  const order = JSON.parse(head) as ToHost;
  if (order.kind !== 'post' || (order.message.kind !== 'call' && order.message.kind !== 'reply'))
    return order;
  return { ...order, message: { ...order.message, body } };
}

export function encodeMessage(thread: number, { kind, id, spoiled, body }: FromWorker): Buffer {
  return encodeFrame(`${JSON.stringify({ thread, message: { kind, id, spoiled } })}\n${body}`);
}

export function encodeNews(thread: number, news: ThreadNews): Buffer {
  return encodeFrame(`${JSON.stringify({ thread, news })}\n`);
}

/** The gateway does not believe the host: code in its threads may reach the channel. Throws ProtocolViolation. */
export function readFromHost(frame: Buffer): FromHost {
  const [head, body] = split(frame);
  const { thread, message, news } = objectOf(head);
  if (typeof thread !== 'number') throw new ProtocolViolation('the frame belongs to no thread');
  if (isJsonObject(message)) return { thread, message: { ...message, body } };
  const { kind, why, code } = isJsonObject(news) ? news : {};
  if (kind === 'exhausted' || kind === 'violation') return { thread, news: { kind } };
  if (kind === 'failed' && typeof why === 'string') return { thread, news: { kind, why } };
  if (kind === 'gone' && typeof code === 'number') return { thread, news: { kind, code } };
  throw new ProtocolViolation('the frame is of no known kind');
}

function objectOf(head: string): { readonly [field: string]: unknown } {
  try {
    const said: unknown = JSON.parse(head);
    if (isJsonObject(said)) return said;
  } catch {
    // Said below.
  }
  throw new ProtocolViolation('the head of the frame is no JSON object');
}

function split(frame: Buffer): readonly [head: string, body: string] {
  const end = frame.indexOf(LINE_FEED);
  if (end < 0) return [frame.toString(), ''];
  return [frame.toString('utf8', 0, end), frame.toString('utf8', end + 1)];
}
