// A disk for the audit journal that fails, stalls and forgets on demand: what is not synced is lost in a crash.
import type { Segment, SegmentFile, SegmentStorage } from '../../src/infra/audit/segment-folder.ts';

interface Stored {
  text: string;
  synced: number;
}

export class FakeSegments implements SegmentStorage {
  readonly files = new Map<string, Stored>();
  readonly rejected: string[] = [];
  syncs = 0;
  #failures = 0;
  #partial = Number.POSITIVE_INFINITY;
  #stall: Promise<void> | undefined;
  #last = 0;

  /** Everything on disk, in the order of the files. */
  get text(): string {
    return [...this.files.values()].map(({ text }) => text).join('');
  }

  /** The lines that are whole, file by file. */
  get lines(): readonly string[] {
    return [...this.files.values()].flatMap(({ text }) => text.split('\n').slice(0, -1));
  }

  /** The next writes fail, after so many characters of the first. */
  fail(times: number, after = 0): void {
    this.#failures = times;
    this.#partial = after;
  }

  /** Syncs wait for the function that is returned. */
  stall(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stall = promise;
    return () => {
      this.#stall = undefined;
      resolve();
    };
  }

  /** What a machine has on its disk when it comes back. */
  crashed(): FakeSegments {
    const after = new FakeSegments();
    for (const [path, { text, synced }] of this.files) {
      after.files.set(path, { text: text.slice(0, synced), synced });
    }
    after.#last = this.#last;
    return after;
  }

  create(): Promise<SegmentFile> {
    this.#last += 1;
    const path = `segment-${this.#last}`;
    const file: Stored = { text: '', synced: 0 };
    this.files.set(path, file);
    return Promise.resolve({
      path,
      append: async (bytes: Uint8Array) => {
        await this.#append(file, Buffer.from(bytes).toString());
        await this.#stall;
        this.syncs += 1;
        file.synced = file.text.length;
      },
      close: async () => this.#stall,
    });
  }

  prepare(): void {}

  leftovers(): Promise<readonly Segment[]> {
    const found = [...this.files].map(([path, { text }]) => ({
      path,
      bytes: text.length,
      records: text.split('\n').length - 1,
      since: 0,
    }));
    return Promise.resolve(found);
  }

  read(path: string): Promise<Buffer> {
    return Promise.resolve(Buffer.from(this.files.get(path)?.text ?? ''));
  }

  remove(path: string): Promise<void> {
    this.files.delete(path);
    return Promise.resolve();
  }

  reject(line: Buffer): Promise<void> {
    this.rejected.push(line.toString().trimEnd());
    return Promise.resolve();
  }

  release(): Promise<void> {
    return Promise.resolve();
  }

  #append(file: Stored, text: string): Promise<void> {
    if (this.#failures === 0) {
      file.text += text;
      return Promise.resolve();
    }
    this.#failures -= 1;
    file.text += text.slice(0, this.#partial);
    return Promise.reject(new Error('disk failed'));
  }
}
