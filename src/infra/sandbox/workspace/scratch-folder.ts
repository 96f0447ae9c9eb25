// ScratchFolder: where a program that stays may write on a rung without mounts, for as long as it lives.
import { statfs } from 'node:fs/promises';
import type { WorkspaceFolder } from './temporary-folders.ts';

/** The disk is asked often; what the program holds of it is counted when that has shrunk, and now and then. */
const LOOK_EVERY_MS = 100;
const LOOKS_BETWEEN_COUNTS = 50;
const NOTICED_BYTES = 4 << 20;

export class ScratchFolder {
  readonly #folder: WorkspaceFolder;
  readonly #limitBytes: number;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #looks = 0;
  #freeBytes = Infinity;
  #isClosed = false;

  constructor(folder: WorkspaceFolder, limitBytes: number) {
    this.#folder = folder;
    this.#limitBytes = limitBytes;
  }

  get fd(): number {
    return this.#folder.fd;
  }

  /** From now on, the process group that writes more than it may is killed. */
  async watch(group: number): Promise<void> {
    this.#timer = setInterval(() => {
      if (!this.#isLooking) void this.#look(group);
    }, LOOK_EVERY_MS).unref();
  }

  /** Nothing of the program is left: nor of what it wrote, soon. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#folder.release().catch(() => undefined);
  }

  async #look(group: number): Promise<void> {
    this.#isLooking = true;
    try {
      if (!(await this.#isDue())) return;
      const bytes = await this.#folder.usage(group, this.#limitBytes);
      if (!this.#isClosed && bytes > this.#limitBytes) process.kill(-group, 'SIGKILL');
    } catch {
      // The program has ended meanwhile, and its folder with it.
    } finally {
      this.#isLooking = false;
    }
  }

  async #isDue(): Promise<boolean> {
    const { bavail, bsize } = await statfs(`/proc/self/fd/${this.#folder.fd}`);
    const free = bavail * bsize;
    this.#looks += 1;
    if (free > this.#freeBytes - NOTICED_BYTES && this.#looks % LOOKS_BETWEEN_COUNTS !== 0) return false;
    this.#freeBytes = free;
    return true;
  }
}
