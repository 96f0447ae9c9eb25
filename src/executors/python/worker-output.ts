// WorkerOutput: what a worker prints, as log lines of the call that runs. Bounded per call; never a result.
import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';

export type LogLevel = 'info' | 'warn';
export type LineListener = (level: LogLevel, line: string) => void;

/** Bytes per call that become log lines; the rest is read and thrown away. */
const MAX_LOGGED_BYTES = 64 * 1024;
/** Bytes per call after which the worker is taken for one that only floods. */
const FLOOD_BYTES = 64 * 1024 * 1024;

export class WorkerOutput {
  readonly #onFlood: () => void;
  readonly #lines: readonly LineBuffer[];
  #listener: LineListener;
  #received = 0;

  /** `listener` gets the lines until the first call begins. `onFlood` may be called more than once. */
  constructor(stdout: Readable, stderr: Readable, listener: LineListener, onFlood: () => void) {
    this.#listener = listener;
    this.#onFlood = onFlood;
    this.#lines = [this.#read(stdout, 'info'), this.#read(stderr, 'warn')];
  }

  /** Lines go to `listener` from now on, with a fresh allowance. */
  begin(listener: LineListener): void {
    this.#listener = listener;
    this.#received = 0;
  }

  /** Passes on what was printed without a line end. The listener stays: late lines are still its own. */
  flush(): void {
    for (const lines of this.#lines) lines.flush();
  }

  #read(stream: Readable, level: LogLevel): LineBuffer {
    const lines = new LineBuffer((line) => this.#listener(level, line));
    stream.on('data', (chunk: Buffer) => {
      const left = MAX_LOGGED_BYTES - this.#received;
      this.#received += chunk.length;
      if (left > 0) lines.push(chunk.length <= left ? chunk : chunk.subarray(0, left));
      if (left >= 0 && chunk.length > left) this.#truncated();
      if (this.#received > FLOOD_BYTES) this.#onFlood();
    });
    return lines;
  }

  #truncated(): void {
    this.flush();
    this.#listener('warn', `(output truncated after ${MAX_LOGGED_BYTES} bytes)`);
  }
}

class LineBuffer {
  readonly #decoder = new StringDecoder('utf8');
  readonly #onLine: (line: string) => void;
  #partial = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    const lines = (this.#partial + this.#decoder.write(chunk)).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.#pass(line);
  }

  flush(): void {
    const rest = this.#partial;
    this.#partial = '';
    this.#pass(rest);
  }

  #pass(line: string): void {
    const text = line.trimEnd();
    if (text !== '') this.#onLine(text);
  }
}
