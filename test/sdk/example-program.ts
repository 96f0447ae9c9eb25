// A program of an example: what it says is waited for, and answered.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

const WITHIN_MS = 40_000;

export class ExampleProgram {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<void>;
  #output = '';
  #isOver = false;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    this.#ended = new Promise((done) => {
      child.once('close', () => {
        this.#isOver = true;
        done();
      });
    });
  }

  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const giveUpAt = Date.now() + WITHIN_MS;
    for (;;) {
      const isOver = this.#isOver;
      const found = pattern.exec(this.#output);
      if (found !== null) return found;
      if (isOver || Date.now() > giveUpAt)
        throw new Error(`it never said ${String(pattern)}:\n${this.#output}`);
      await pause(20);
    }
  }

  answer(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  async end(): Promise<void> {
    if (!this.#isOver) this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
