// GatewayDatabase: the gateway's own database. What uses it may be made before it is open.
import { pause } from '../../lib/timers/pause.ts';
import { Kysely, PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { unavailableMessage } from './database-failures.ts';
import { Database } from './database.ts';
import { isNotThereYet } from './not-there-yet.ts';
import { FullDisk } from './roles/full-disk.ts';
import { hasTwoRoles, type DatabaseSettings } from './roles/connect-as.ts';
import { writerSettings, type WriterSettings } from './roles/writer-settings.ts';
import type { Tables } from './tables.ts';

/** After a failure, callers are refused for so long before the next try. */
const RETRY_AFTER_MS = 1_000;

/** What a start waits for the database. */
const BOOT_WITHIN_MS = 20_000;

export class GatewayDatabase {
  /** At once: its first statement opens the database, or waits until it is open. */
  readonly db: Kysely<Tables>;
  /** As the owner of the tables, see Database. */
  readonly owner: Kysely<Tables>;
  readonly fullDisk: FullDisk;
  readonly #settings: DatabaseSettings;
  readonly #clock: Clock;
  readonly #log: Log;
  #opening: Promise<Database> | undefined;
  #opened: Database | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  /** Why it could not be opened the last time. */
  #failure: unknown;
  #ended = false;

  constructor(settings: DatabaseSettings, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.fullDisk = new FullDisk(() => clock.now());
    const pool = async () => (await this.opened()).pool;
    this.db = new Kysely({ dialect: new PostgresDialect({ pool }) });
    const ownerPool = async () => (await this.opened()).ownerPool;
    this.owner = new Kysely({ dialect: new PostgresDialect({ pool: ownerPool }) });
  }

  /** Whether whoever can log in as those who write cannot change audit records. */
  get isAppendOnly(): boolean {
    return hasTwoRoles(this.#settings);
  }

  get isOpen(): boolean {
    return this.#opened !== undefined;
  }

  /** How those who write connect, as another thread may be told. */
  writerSettings(): Promise<WriterSettings> {
    return writerSettings(this.#settings);
  }

  /** Undefined while it is not open. */
  get pool(): Pool | undefined {
    return this.#opened?.pool;
  }

  /** The database once it is open. Throws ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE) where it cannot be opened; a later call tries again. */
  opened(): Promise<Database> {
    if (this.#opening !== undefined) return this.#opening;
    if (this.#ended || this.#clock.now() - this.#failedAt < RETRY_AFTER_MS)
      return Promise.reject(unavailable(this.#failure));
    const opening = this.#open();
    this.#opening = opening;
    return opening;
  }

  /**
   * Opens it now, for a start that cannot go on without: a server that is slow, or starts at the same time, gets a few
   * seconds. Throws Error with the reason.
   */
  async openNow(): Promise<void> {
    const giveUpAt = this.#clock.now() + BOOT_WITHIN_MS;
    for (;;) {
      const error = await this.opened().then(
        () => undefined,
        (thrown: unknown) =>
          thrown instanceof ToolFailure && thrown.cause instanceof Error ? thrown.cause : thrown,
      );
      if (error === undefined) return;
      if (!isNotThereYet(error) || this.#clock.now() >= giveUpAt) throw error;
      await pause(this.#clock, RETRY_AFTER_MS);
    }
  }

  async close(): Promise<void> {
    this.#ended = true;
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.close();
    this.#opened = undefined;
  }

  async #open(): Promise<Database> {
    try {
      const opened = await Database.open(this.#settings, this.#log, this.fullDisk);
      this.#opened = opened;
      return opened;
    } catch (error) {
      this.#opening = undefined;
      this.#failedAt = this.#clock.now();
      this.#failure = error;
      this.#log.warn({ err: error }, 'the database cannot be opened: it is tried again');
      throw unavailable(error);
    }
  }
}

function unavailable(cause: unknown): ToolFailure {
  return toolFailure('DATABASE_UNAVAILABLE', unavailableMessage(cause), {
    retryAfterMs: RETRY_AFTER_MS,
    cause,
  });
}
