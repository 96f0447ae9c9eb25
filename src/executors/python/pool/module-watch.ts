// ModuleWatch: the manifest of a pool's module files, by content, and whether they still are what was loaded.
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../../ports/clock.ts';

interface KnownFile {
  /** Changes with every write; the content is read again only when it does. */
  readonly stamp: string;
  readonly sha256: string;
}

const LOOK_INTERVAL_MS = 1000;
const GONE: KnownFile = { stamp: '', sha256: '' };

export class ModuleWatch {
  readonly #clock: Clock;
  readonly #onChange: (file: string, sha256: string) => void;
  readonly #files = new Map<string, KnownFile>();
  #looking: Promise<void> | undefined;
  #lastLook: number;

  constructor(clock: Clock, onChange: (file: string, sha256: string) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
    this.#lastLook = clock.now();
  }

  /** Records what has just been imported. */
  async add(files: readonly string[]): Promise<void> {
    const unknown = files.filter((file) => !this.#files.has(file));
    for (const file of unknown) this.#files.set(file, await read(file));
  }

  /** Of these files' contents, as they are now: a change is told before. */
  async hashOf(files: readonly string[]): Promise<string> {
    await this.look();
    const contents = files.toSorted().map((file) => this.#files.get(file)?.sha256 ?? '');
    return createHash('sha256').update(contents.join('\n')).digest('hex');
  }

  /** Looks in the background, now and then: costs a call nothing. */
  lookSometimes(): void {
    if (this.#files.size === 0 || this.#clock.now() - this.#lastLook < LOOK_INTERVAL_MS) return;
    void this.look();
  }

  look(): Promise<void> {
    this.#lastLook = this.#clock.now();
    this.#looking ??= this.#compare().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #compare(): Promise<void> {
    for (const [file, known] of this.#files) {
      if ((await stampOf(file)) === known.stamp) continue;
      const now = await read(file);
      this.#files.set(file, now);
      if (now.sha256 !== known.sha256) this.#onChange(file, now.sha256);
    }
  }
}

async function read(file: string): Promise<KnownFile> {
  // The stamp first: a write in between makes the next look read again.
  const stamp = await stampOf(file);
  if (stamp === GONE.stamp) return GONE;
  const content = await readFile(file).catch(() => Buffer.alloc(0));
  return { stamp, sha256: createHash('sha256').update(content).digest('hex') };
}

async function stampOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => undefined);
  return found === undefined ? GONE.stamp : `${found.mtimeNs}:${found.ctimeNs}:${found.size}:${found.ino}`;
}
