// Reads a whole recording for a replay: bounded, every line checked, and refused with the line's number where one is wrong.
import { open } from 'node:fs/promises';
import type { RecordedCall } from '../../ports/recordings.ts';
import { isTail, readCall, readHead, readTail, type RecordingHead } from './recording-lines.ts';

/** Somewhat more than the largest recording that can be made. */
const MAX_FILE_BYTES = 260 << 20;
const MAX_LINE_BYTES = 64 << 20;
const MAX_CALLS = 100_000;
const NEWLINE = 0x0a;

export interface ReadRecording {
  readonly head: RecordingHead;
  /** By order. */
  readonly calls: readonly RecordedCall[];
}

/** Throws Error: the file, the line, and what is wrong with it. */
export async function readRecordingFile(path: string): Promise<ReadRecording> {
  return readRecording(await bytesOf(path), path);
}

function readRecording(bytes: Uint8Array, path: string): ReadRecording {
  const lines = linesOf(bytes, path);
  const first = lines.next();
  if (first.done === true) throw at(path, 1, 'the file is empty: expected a recording');
  const head = atLine(path, 1, () => readHead(first.value.value));
  const calls: RecordedCall[] = [];
  const orders = new Map<number, number>();
  for (const { value, number } of lines) {
    if (isTail(value)) {
      const tail = atLine(path, number, () => readTail(value));
      if (tail.calls !== calls.length)
        throw at(
          path,
          number,
          `calls: expected ${calls.length}, as many as there are lines of calls, found ${tail.calls}`,
        );
      if (lines.next().done !== true)
        throw at(path, number + 1, 'expected nothing after the line that ends the recording');
      return { head, calls: calls.toSorted((a, b) => a.order - b.order) };
    }
    const call = atLine(path, number, () => readCall(value));
    const twin = orders.get(call.order);
    if (twin !== undefined) throw at(path, number, `order: ${call.order} is taken by line ${twin} already`);
    orders.set(call.order, number);
    calls.push(call);
    if (calls.length > MAX_CALLS) throw at(path, number, `expected at most ${MAX_CALLS} calls`);
  }
  throw at(path, calls.length + 2, 'the recording has no end: it was cut, or is still being made');
}

async function bytesOf(path: string): Promise<Buffer> {
  try {
    const file = await open(path, 'r');
    try {
      const stat = await file.stat();
      if (!stat.isFile()) throw new Error('it is not a plain file');
      if (stat.size > MAX_FILE_BYTES)
        throw new Error(`it has ${stat.size} bytes, and ${MAX_FILE_BYTES} are the most`);
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new Error(`${path}: the recording cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function* linesOf(bytes: Uint8Array, path: string): Generator<{ value: unknown; number: number }> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let from = 0;
  for (let number = 1; from < bytes.length; number += 1) {
    const end = bytes.indexOf(NEWLINE, from);
    if (end < 0) throw at(path, number, 'the line has no end: the file was cut');
    if (end - from > MAX_LINE_BYTES)
      throw at(path, number, `expected at most ${MAX_LINE_BYTES} bytes in a line`);
    const line = bytes.subarray(from, end);
    yield { value: atLine(path, number, () => parsed(line, decoder)), number };
    from = end + 1;
  }
}

function parsed(line: Uint8Array, decoder: InstanceType<typeof TextDecoder>): unknown {
  let text: string;
  try {
    text = decoder.decode(line);
  } catch {
    throw new Error('is not UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('is not valid JSON');
  }
}

function atLine<Value>(path: string, number: number, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    // A nesting that is too deep to be walked is the file's fault, too.
    const message = error instanceof RangeError ? 'is nested too deeply' : (error as Error).message;
    throw at(path, number, message);
  }
}

function at(path: string, number: number, message: string): Error {
  return new Error(`${path}:${number}: ${message}`);
}
