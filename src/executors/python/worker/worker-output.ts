// What tools print, as log lines. Bounded per call; never a result.
import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

export type LogLevel = 'info' | 'warn';
/** `isCut`: the line goes on, and what follows is left out. */
export type LineListener = (level: LogLevel, line: string, isCut: boolean) => void;

/** Bytes per call that become log lines; the rest is read and thrown away. */
const MAX_LOGGED_BYTES = 64 * 1024;
const LAST_WORDS_MS = 200;
/** Bytes between two requests after which the worker is taken for one that only floods. */
const FLOOD_BYTES = 64 * 1024 * 1024;

/** What one call prints, cut into lines. */
export class CallOutput {
  readonly #listener: LineListener;
  readonly #lines: Readonly<Record<LogLevel, LineBuffer>>;
  #received = 0;

  constructor(listener: LineListener) {
    this.#listener = listener;
    this.#lines = {
      info: new LineBuffer((line, isCut) => listener('info', line, isCut)),
      warn: new LineBuffer((line, isCut) => listener('warn', line, isCut)),
    };
  }

  push(level: LogLevel, chunk: Buffer): void {
    const left = MAX_LOGGED_BYTES - this.#received;
    this.#received += chunk.length;
    if (left > 0) this.#lines[level].push(chunk.length <= left ? chunk : chunk.subarray(0, left));
    if (left >= 0 && chunk.length > left) this.#truncated(level);
  }

  /** Passes on what was printed without a line end. */
  flush(): void {
    this.#lines.info.flush();
    this.#lines.warn.flush();
  }

  #truncated(level: LogLevel): void {
    this.#lines[level].flush(true);
    this.flush();
    this.#listener('warn', `(output truncated after ${MAX_LOGGED_BYTES} bytes)`, false);
  }
}

/** Reads a worker's own stdout and stderr; `target` says whose each piece is. `onFlood` may be called more than once. */
export class WorkerOutput {
  #received = 0;

  constructor(stdout: Readable, stderr: Readable, target: () => CallOutput, onFlood: () => void) {
    const read = (stream: Readable, level: LogLevel) =>
      stream.on('data', (chunk: Buffer) => {
        this.#received += chunk.length;
        target().push(level, chunk);
        if (this.#received > FLOOD_BYTES) onFlood();
      });
    read(stdout, 'info');
    read(stderr, 'warn');
  }

  /** A new request: a fresh allowance. */
  begin(): void {
    this.#received = 0;
  }
}

/** What a process printed last may still be on its way when it is gone; something that it left behind may hold the pipe open. */
export async function over(streams: readonly Readable[]): Promise<void> {
  const signal = AbortSignal.timeout(LAST_WORDS_MS);
  await Promise.allSettled(streams.map((stream) => finished(stream, { signal })));
}

class LineBuffer {
  readonly #decoder = new StringDecoder('utf8');
  readonly #onLine: (line: string, isCut: boolean) => void;
  #partial = '';

  constructor(onLine: (line: string, isCut: boolean) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    const lines = (this.#partial + this.#decoder.write(chunk)).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.#pass(line, false);
  }

  flush(isCut = false): void {
    const rest = this.#partial;
    this.#partial = '';
    this.#pass(rest, isCut);
  }

  #pass(line: string, isCut: boolean): void {
    const text = line.trimEnd();
    if (text !== '') this.#onLine(text, isCut);
  }
}
