// Checkpoints: now and then, how far each chain is, signed, kept in a second place and in the database.
import { sql, type Transaction } from 'kysely';
import type { Counter } from '../../../ports/telemetry/metrics.ts';
import {
  checkpointId,
  checkpointLine,
  signCheckpoint,
  type Checkpoint,
} from '../../../lib/audit-chain/checkpoint.ts';
import type { Database } from '../../postgres/database.ts';
import type { Tables } from '../../postgres/tables.ts';
import type { CheckpointSink } from './checkpoint-file.ts';
import type { SigningKey } from './signing-key.ts';

/** After so many records, or so long after the last one. */
const EVERY_RECORDS = 10_000;
const EVERY_SECONDS = 60;
/** Of chains at once. */
const BATCH = 200;
/** Any number, the same on every replica: one of them makes checkpoints at a time. */
const LOCK = 7_274_303;

export interface CheckpointDeps {
  readonly database: Pick<Database, 'owner'>;
  readonly key: SigningKey;
  readonly sink: CheckpointSink;
  readonly made: Counter;
}

interface Head {
  readonly tenant: string;
  readonly seq: number;
  readonly hash: string;
  readonly previous: string;
  readonly now: Date;
}

export class Checkpoints {
  readonly #deps: CheckpointDeps;

  constructor(deps: CheckpointDeps) {
    this.#deps = deps;
  }

  /**
   * In the second place first: what is said there is true whether or not the database keeps it too. `all`: of every chain
   * that has grown, at once.
   */
  async make(all = false): Promise<void> {
    const { database, key, sink, made } = this.#deps;
    const { id, privateKey } = key;
    for (let count = BATCH; count === BATCH;)
      count = await database.owner.transaction().execute(async (trx) => {
        const heads = await grownChains(trx, all);
        if (heads.length === 0) return 0;
        const checkpoints = heads.map(({ now, ...head }) =>
          signCheckpoint({ ...head, at: now.toISOString(), key: id }, privateKey),
        );
        await sink.append(checkpoints.map(checkpointLine));
        await keep(trx, checkpoints);
        made.add(checkpoints.length);
        return heads.length;
      });
  }
}

async function grownChains(trx: Transaction<Tables>, all: boolean): Promise<readonly Head[]> {
  const lock = await sql<{ held: boolean }>`SELECT pg_try_advisory_xact_lock(${LOCK}) AS held`.execute(trx);
  if (lock.rows[0]?.held !== true) return [];
  const { rows } = await sql<Head>`
    SELECT tenant_id AS tenant, seq, encode(hash, 'hex') AS hash, checkpoint_id AS previous,
      date_trunc('milliseconds', clock_timestamp()) AS now
    FROM audit_chains WHERE seq > checkpoint_seq
      AND (${all} OR seq - checkpoint_seq >= ${EVERY_RECORDS}
        OR checkpointed_at < now() - ${EVERY_SECONDS} * interval '1 second')
    ORDER BY tenant_id LIMIT ${BATCH}`.execute(trx);
  return rows;
}

async function keep(trx: Transaction<Tables>, checkpoints: readonly Checkpoint[]): Promise<void> {
  const rows = JSON.stringify(checkpoints.map((each) => ({ ...each, id: checkpointId(each) })));
  await sql`
    WITH made AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${rows}::json)
        AS c (tenant text, seq bigint, hash text, at timestamptz, previous text, key text, signature text, id text)
    ), kept AS (
      INSERT INTO audit_checkpoints (tenant_id, seq, hash, at, previous, key_id, signature, position)
      SELECT tenant, seq, decode(hash, 'hex'), at, previous, key, decode(signature, 'hex'),
        row_number() OVER () + greatest((SELECT max(position) FROM audit_checkpoints), (SELECT max(position) FROM audit_sinks), 0)
      FROM made
    )
    UPDATE audit_chains AS chain SET checkpoint_seq = made.seq, checkpoint_id = made.id, checkpointed_at = made.at
    FROM made WHERE chain.tenant_id = made.tenant`.execute(trx);
}
