// FullDisk: whether the database has room to store anything. On a full disk it answers questions as ever: only what it refuses
// to store tells of it, and only what takes room tells that there is some again.
import type { Pool, PoolClient } from 'pg';
import { isDiskFull } from '../../../lib/files/disk-full.ts';

/** It counts as full for so long after the last refusal: temporary files may lie on a disk of their own. */
const HOLDS_MS = 5_000;

/** Some 300 KB for as long as it runs: rows that do not fit into the memory that they may take. It needs no right. */
export const TAKES_ROOM =
  "SET LOCAL work_mem = '64kB'; SELECT count(*) FROM (SELECT number FROM generate_series(1, 20000) AS number ORDER BY number DESC OFFSET 0) AS sorted";

/** Of pg's Client, what @types/pg leaves out. */
interface ClientParts {
  readonly connection: {
    on(event: 'errorMessage', listener: (error: { readonly code?: string }) => void): unknown;
  };
}

export class FullDisk {
  readonly #now: () => number;
  #toldAt: number | undefined;

  /** `now`: by a clock that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A statement was refused for it, and `hasRoom` was not called since. */
  get isFull(): boolean {
    return this.#toldAt !== undefined;
  }

  /** What its statements are refused for from then on is listened to. */
  listen(pool: Pool): void {
    pool.on('connect', (client: PoolClient) => {
      const { connection } = client as unknown as ClientParts;
      connection.on('errorMessage', (error) => this.failed(error));
    });
  }

  failed(error: unknown): void {
    if (isDiskFull(error)) this.#toldAt = this.#now();
  }

  /** Something that takes room was done. */
  hasRoom(): void {
    if (this.#toldAt !== undefined && this.#now() - this.#toldAt >= HOLDS_MS) this.#toldAt = undefined;
  }
}
