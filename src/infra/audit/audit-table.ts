// SqlAuditTable: audit records in the database: those of the journal chained, intents kept with the calls that begin.
import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { isDataError, type AuditTable } from './audit-shipper.ts';
import { AuditChain } from './chain/audit-chain.ts';
import { beginStatement } from './chain/call-rows.ts';
import { ownLines } from './chain/own-lines.ts';
import { LINE_RECORD } from './chain/trail-columns.ts';

/** Chained in one transaction: as long as it takes, others wait for the same chains. */
const TAKEN_AT_ONCE = 500;

export class SqlAuditTable implements AuditTable {
  readonly #db: Database['db'];
  readonly #chain: AuditChain;
  readonly #gateway: string;

  /** `gateway`: whose calls they are, by its signs of life. */
  constructor(database: Pick<Database, 'db' | 'owner'>, gateway: string) {
    this.#db = database.db;
    this.#chain = new AuditChain(database);
    this.#gateway = gateway;
  }

  async store(lines: Buffer, fresh = false): Promise<void> {
    await this.#chain.append(ownLines(lines), { fresh, ofCalls: { gateway: this.#gateway } });
  }

  async takeIn(reject: (record: string) => Promise<void>): Promise<void> {
    try {
      while ((await this.#chain.takeIn(TAKEN_AT_ONCE)) === TAKEN_AT_ONCE);
    } catch (error) {
      if (!isDataError(error)) throw error;
      // One record that the database refuses holds up no other.
      while (await this.#chain.takeInOne(isDataError, reject));
    }
  }

  /** Straight from a running call: how long it may take counts by the database's own time. */
  async intend(lines: readonly string[]): Promise<void> {
    await sql`/* store_audit_intents */
      WITH incoming AS MATERIALIZED (
        SELECT * FROM json_to_recordset(${`[${lines.join(',')}]`}::json) AS record (${LINE_RECORD})
      ), kept AS (
        INSERT INTO audit_inbox (record) SELECT trim(record, E'\n') FROM unnest(${lines}::text[]) AS record
      )
      ${beginStatement(sql`now()`, this.#gateway)}
      ON CONFLICT (id) DO NOTHING`.execute(this.#db);
  }
}
