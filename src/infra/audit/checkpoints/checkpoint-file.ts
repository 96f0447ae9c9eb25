// CheckpointFile: the second place where checkpoints are kept, a file that is only ever added to.
import { open } from 'node:fs/promises';

export interface CheckpointSink {
  /** Whole lines. Kept when it resolves. */
  append(lines: readonly string[]): Promise<void>;
}

const NEWLINE = 0x0a;

export class CheckpointFile implements CheckpointSink {
  readonly #path: string;
  #isWhole = false;

  constructor(path: string) {
    this.#path = path;
  }

  async append(lines: readonly string[]): Promise<void> {
    const handle = await open(this.#path, 'a+', 0o600);
    try {
      // A write that failed, or a process that died in one, may have left a part of a line.
      if (!this.#isWhole) await this.#endLastLine(handle);
      this.#isWhole = false;
      await handle.appendFile(lines.join(''));
      await handle.datasync();
      this.#isWhole = true;
    } finally {
      await handle.close();
    }
  }

  async #endLastLine(handle: Awaited<ReturnType<typeof open>>): Promise<void> {
    const { size } = await handle.stat();
    let keep = size;
    const byte = Buffer.alloc(1);
    for (; keep > 0; keep -= 1) {
      await handle.read(byte, 0, 1, keep - 1);
      if (byte[0] === NEWLINE) break;
    }
    if (keep < size) await handle.truncate(keep);
  }
}
