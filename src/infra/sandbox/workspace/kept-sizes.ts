// KeptSizes: what the archives of each owner take, counted once and then kept up: so that to ask costs no look at the disk.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What one costs at least: an archive of nothing is not for nothing either, and their number has a limit so. */
const LEAST_BYTES = 64 << 10;
export const ARCHIVE_SUFFIX = '.tar';

export class KeptSizes {
  readonly #folders = new Map<string, Promise<Map<string, number>>>();

  /** Of one owner: archives by their path. */
  of(folder: string): Promise<Map<string, number>> {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const counted = count(folder);
    this.#folders.set(folder, counted);
    counted.catch(() => this.#folders.delete(folder));
    return counted;
  }

  async set(folder: string, path: string, bytes: number): Promise<void> {
    (await this.of(folder)).set(path, Math.max(LEAST_BYTES, bytes));
  }

  async remove(folder: string, path: string): Promise<void> {
    (await this.of(folder)).delete(path);
  }
}

async function count(folder: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const name of await readdir(folder)) {
    if (!name.endsWith(ARCHIVE_SUFFIX)) continue;
    const path = join(folder, name);
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    sizes.set(path, Math.max(LEAST_BYTES, size));
  }
  return sizes;
}
