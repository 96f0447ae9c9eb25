// KeptCopy: the last good document on disk, for a start while its source is away.
import { createHash, hash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { SourceDocument } from './remote-source.ts';

const stored = z.object({
  url: z.string(),
  fetched_at: z.string(),
  etag: z.string().optional(),
  signature: z.string().optional(),
  body: z.base64(),
});

/** What stands around the body. */
const MARGIN_BYTES = 16 * 1024;

export class KeptCopy {
  readonly #url: string;
  readonly #path: string;
  readonly #maxBytes: number;
  #written = '';

  constructor(url: string, dataDir: string, maxBytes: number) {
    this.#url = url;
    // Named by the URL's hash: a query may hold a key.
    const name = createHash('sha256').update(url).digest('hex').slice(0, 24);
    this.#path = join(dataDir, 'loaders', `http-${name}.json`);
    this.#maxBytes = maxBytes;
  }

  /** Undefined: there is none that can be used. */
  async read(): Promise<SourceDocument | undefined> {
    try {
      if ((await stat(this.#path)).size > this.#maxBytes * 2 + MARGIN_BYTES) return undefined;
      const kept = stored.parse(JSON.parse(await readFile(this.#path, 'utf8')));
      const body = Buffer.from(kept.body, 'base64');
      if (kept.url !== this.#url || body.length > this.#maxBytes) return undefined;
      const { etag, signature, fetched_at: fetchedAt } = kept;
      return {
        body,
        hash: hash('sha256', body),
        fetchedAt,
        ...(etag !== undefined && { etag }),
        ...(signature !== undefined && { signature }),
      };
    } catch {
      return undefined;
    }
  }

  /** Readable by this user alone: a document may hold what is not for everybody. Whole or not at all. */
  async write(document: SourceDocument): Promise<void> {
    if (document.hash === this.#written) return;
    const { etag, signature, fetchedAt, body } = document;
    const text = JSON.stringify({
      url: this.#url,
      fetched_at: fetchedAt,
      etag,
      signature,
      body: body.toString('base64'),
    });
    const temporary = `${this.#path}.${randomUUID()}`;
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      await writeFile(temporary, text, { mode: 0o600 });
      await rename(temporary, this.#path);
      this.#written = document.hash;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}
