// The lines of a file, one at a time: of a file of any size, no more is held than a line and one reading.
import { open } from 'node:fs/promises';
import { CliFailure, EXIT } from './exit-code.ts';
import { reasonOf } from './gateway/gateway-client.ts';

const NEWLINE = 0x0a;
/** No record is as long. */
const MAX_LINE_BYTES = 32 << 20;
const READING_BYTES = 64 << 10;

/** Without the line break; what comes after the last one is a line as well. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  const file = await orFailure(path, open(path));
  try {
    // One for all readings: those that a stream makes anew wait for a collection, and grow with the file until then.
    let held = Buffer.allocUnsafe(READING_BYTES);
    let length = 0;
    for (;;) {
      if (length === held.length) held = twice(held, path);
      const { bytesRead } = await orFailure(path, file.read(held, length, held.length - length));
      if (bytesRead === 0) break;
      // What was there has no line break in it.
      let [start, end] = [0, held.subarray(0, length + bytesRead).indexOf(NEWLINE, length)];
      length += bytesRead;
      while (end >= 0) {
        yield held.toString('utf8', start, end);
        start = end + 1;
        end = held.subarray(0, length).indexOf(NEWLINE, start);
      }
      held.copyWithin(0, start, length);
      length -= start;
    }
    if (length > 0) yield held.toString('utf8', 0, length);
  } finally {
    await file.close();
  }
}

function twice(held: Buffer<ArrayBuffer>, path: string): Buffer<ArrayBuffer> {
  if (held.length >= MAX_LINE_BYTES) throw unreadable(path, `a line is longer than ${MAX_LINE_BYTES} bytes`);
  const larger = Buffer.allocUnsafe(held.length * 2);
  held.copy(larger);
  return larger;
}

async function orFailure<Value>(path: string, reading: Promise<Value>): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    throw unreadable(path, reasonOf(error));
  }
}

function unreadable(path: string, reason: string): CliFailure {
  return new CliFailure(EXIT.usage, `${path} cannot be read: ${reason}`);
}
