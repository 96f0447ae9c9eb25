// FileContents: hashes of files' contents, read again only where a file seems to have changed.
import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

interface KnownFile {
  /** Changes with every write. */
  readonly stamp: string;
  readonly sha256: string;
}

const GONE = 'gone';

export class FileContents {
  readonly #known = new Map<string, KnownFile>();

  /** Of all of them together, in the order they are given; one that cannot be read is like one that is not there. */
  async hashOf(paths: readonly string[]): Promise<string> {
    const contents: string[] = [];
    for (const path of paths) contents.push(await this.#contentOf(path).catch(() => GONE));
    return hash('sha256', JSON.stringify(contents));
  }

  async #contentOf(path: string): Promise<string> {
    // The stamp first: a write in between makes the next look read again.
    const found = await stat(path, { bigint: true });
    if (!found.isFile()) return GONE;
    const stamp = `${found.mtimeNs}:${found.ctimeNs}:${found.size}:${found.ino}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known.sha256;
    const digest = createHash('sha256');
    await pipeline(createReadStream(path), digest);
    const sha256 = digest.digest('hex');
    this.#known.set(path, { stamp, sha256 });
    return sha256;
  }
}
