// EventReader: an event stream as the SDK may have it: short messages alone, few in a turn of the event loop, in a stream that
// does not go on for ever. Large ones are read in slices and passed by a stand-in.
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { withExactNumbers } from '../../../lib/json/exact-json.ts';
import { yieldToLoop } from '../../../lib/concurrency/in-slices.ts';
import type { Clock } from '../../../ports/clock.ts';
import { EventLines, type StreamEvent } from './event-lines.ts';
import { brokenProtocol, tooDeep } from '../failures.ts';
import { JsonDepth, MAX_DEPTH } from './json-depth.ts';
import { isLargeMessage, readLargeMessage } from './large-message.ts';
import { isMessage } from './message-form.ts';

export interface EventReaderOptions {
  /** Of one event. */
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly standIn: (message: JSONRPCMessage) => JSONRPCMessage;
  /** An event that is no message. */
  readonly onGarbage: () => void;
  /** Told before the stream ends with the same failure. */
  readonly onRefused: (failure: ToolFailure) => void;
}

/** The SDK takes some ten microseconds for each. */
const EVENTS_A_TURN = 32;
const MINUTE_MS = 60_000;
/** What one stream may bring in a minute, in messages of the largest size; and whatever that is, so many bytes. */
const LARGEST_A_MINUTE = 8;
const LEAST_A_MINUTE = 16 << 20;

export function eventReader(options: EventReaderOptions): TransformStream<Uint8Array, Uint8Array> {
  const { maxBytes, clock, onRefused } = options;
  const lines = new EventLines(maxBytes);
  const encoder = new TextEncoder();
  const mostBytes = Math.max(maxBytes * LARGEST_A_MINUTE, LEAST_A_MINUTE);
  let [since, bytes, inTurn] = [clock.now(), 0, 0];
  const count = (more: number) => {
    const now = clock.now();
    if (now - since >= MINUTE_MS) [since, bytes] = [now, 0];
    bytes += more;
    if (bytes > mostBytes) throw brokenProtocol('bytes');
  };
  return new TransformStream({
    async transform(chunk, controller) {
      try {
        count(chunk.length);
        for (const event of lines.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))) {
          const text = await textOf(event, options);
          if (text !== '') controller.enqueue(encoder.encode(text));
          inTurn += 1;
          if (inTurn % EVENTS_A_TURN === 0) await yieldToLoop();
        }
      } catch (error) {
        // Any other one says that nobody reads the stream any more.
        if (error instanceof ToolFailure) onRefused(error);
        controller.error(error);
      }
      // What is read ahead would else follow in the same turn.
      await yieldToLoop();
    },
  });
}

async function textOf({ position, data }: StreamEvent, options: EventReaderOptions): Promise<string> {
  if (data === undefined) return `${position}\n`;
  const message = isLargeMessage(data) ? await largeMessage(data, options) : shortMessage(data);
  if (message === undefined) options.onGarbage();
  return message === undefined ? withoutData(position) : `${position}data: ${message}\n\n`;
}

function withoutData(position: string): string {
  return position === '' ? '' : `${position}\n`;
}

async function largeMessage(data: Buffer, { standIn }: EventReaderOptions): Promise<string | undefined> {
  const value = await readLargeMessage(data);
  return isMessage(value) ? JSON.stringify(standIn(value)) : undefined;
}

/** In one line; undefined: it is none. */
function shortMessage(data: Buffer): string | undefined {
  if (!new JsonDepth().pushAll(data)) throw tooDeep(MAX_DEPTH);
  const json = withExactNumbers(data.toString('utf8'));
  try {
    return isMessage(JSON.parse(json)) ? json.replaceAll('\n', ' ') : undefined;
  } catch {
    return undefined;
  }
}
