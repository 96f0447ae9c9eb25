// OutputCapture: what a program prints, up to a limit for both streams together.
import type { Readable } from 'node:stream';
import type { ChildProcess } from '../../../ports/egress/process-spawner.ts';

/** What is still in the pipes once everybody who could write is dead comes at once. */
const REST_MS = 2_000;

export class OutputCapture {
  readonly #chunks = { stdout: new Array<Buffer>(), stderr: new Array<Buffer>() };
  readonly #streams: readonly Readable[];
  readonly #closed: Promise<unknown>;
  #left: number;

  constructor(
    { stdout, stderr }: Pick<ChildProcess, 'stdout' | 'stderr'>,
    maxBytes: number,
    onLimit: () => void,
    onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void = () => undefined,
  ) {
    this.#left = maxBytes;
    this.#streams = [stdout, stderr];
    const take = (name: 'stdout' | 'stderr') => (chunk: Buffer) => {
      if (chunk.length > this.#left) onLimit();
      const kept = chunk.subarray(0, this.#left);
      this.#left -= kept.length;
      if (kept.length === 0) return;
      this.#chunks[name].push(kept);
      onOutput(name, kept);
    };
    stdout.on('data', take('stdout'));
    stderr.on('data', take('stderr'));
    this.#closed = Promise.all(
      this.#streams.map((stream) => new Promise((done) => stream.once('close', done))),
    );
  }

  get stdout(): Buffer {
    return Buffer.concat(this.#chunks.stdout);
  }

  get stderr(): Buffer {
    return Buffer.concat(this.#chunks.stderr);
  }

  /** After the end of the program: when everything it had printed has come. */
  async over(): Promise<void> {
    const giveUp = setTimeout(() => this.#streams.forEach((stream) => stream.destroy()), REST_MS).unref();
    await this.#closed;
    clearTimeout(giveUp);
  }
}
