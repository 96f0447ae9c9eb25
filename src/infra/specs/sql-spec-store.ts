// SqlSpecStore: versions of tools as rows that never change, and heads that point at them. Changes of heads come one after another.
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import {
  MOST_VERSIONS,
  type CommitOutcome,
  type HeadChange,
  type Heads,
  type NewToolVersion,
  type SpecChange,
  type SpecStore,
  type ToolHead,
  type ToolVersion,
} from '../../ports/registry/spec-store.ts';
import { storable } from '../postgres/storable.ts';
import { columns } from '../postgres/columns.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import type { Tables } from '../postgres/tables.ts';

/** Any number, the same on every replica: who holds this lock of the database changes heads. */
const LOCK = 7_274_307;
const GENERATION = sql`SELECT COALESCE(sum(revision), 0) AS generation FROM tool_heads`;
/** Definitions may be large: so many go in one statement. */
const BATCH = 100;

const HEAD = sql`${columns<ToolHead>(['name', 'contentHash', 'enabled', 'revision', 'updatedBy', 'updatedAt', 'note'], 'h')},
  v.version, v.document`;
// oxfmt-ignore
const VERSION = columns<ToolVersion>([
  'name', 'contentHash', 'version', 'document', 'source', 'baseDir', 'createdBy', 'createdAt', 'note',
]);
const CHANGE = sql`${columns<SpecChange>(['name', 'revision', 'action', 'contentHash', 'note'])},
  changed_by AS by, changed_at AS at`;

export class SqlSpecStore implements SpecStore {
  readonly #db: Kysely<Tables>;
  readonly #most: number;

  constructor(db: Kysely<Tables>, mostVersions = MOST_VERSIONS) {
    this.#db = db;
    this.#most = mostVersions;
  }

  generation(): Promise<number> {
    return withDatabase(() => generationOf(this.#db));
  }

  /** One statement: the generation is that of the heads. */
  heads(): Promise<Heads> {
    return withDatabase(async () => {
      const { rows } = await this.#heads(sql`true`);
      const generation = rows.reduce((sum, { revision }) => sum + revision, 0);
      return { generation, heads: rows.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
    });
  }

  head(name: string): Promise<ToolHead | undefined> {
    return withDatabase(async () => {
      const { rows } = await this.#heads(sql`h.name = ${storable(name)}`);
      return rows[0];
    });
  }

  commit(change: HeadChange): Promise<CommitOutcome> {
    return withDatabase(() => this.#db.transaction().execute((trx) => commitIn(trx, change, this.#most)));
  }

  record(versions: readonly NewToolVersion[]): Promise<void> {
    return withDatabase(async () => {
      for (let at = 0; at < versions.length; at += BATCH)
        await this.#recordBatch(versions.slice(at, at + BATCH));
    });
  }

  version(name: string, contentHash: string): Promise<ToolVersion | undefined> {
    return this.#version(sql`name = ${storable(name)} AND content_hash = ${storable(contentHash)}`);
  }

  versionCalled(name: string, version: string): Promise<ToolVersion | undefined> {
    return this.#version(sql`name = ${storable(name)} AND version = ${storable(version)}`);
  }

  versions(name: string, limit: number): Promise<readonly ToolVersion[]> {
    return withDatabase(async () => {
      const { rows } =
        await sql<ToolVersion>`SELECT ${VERSION} FROM tool_versions WHERE name = ${storable(name)}
        ORDER BY created_at DESC, content_hash LIMIT ${limit}`.execute(this.#db);
      return rows;
    });
  }

  changes(name: string, limit: number): Promise<readonly SpecChange[]> {
    return withDatabase(async () => {
      const { rows } = await sql<SpecChange>`SELECT ${CHANGE} FROM tool_changes WHERE name = ${storable(name)}
        ORDER BY revision DESC LIMIT ${limit}`.execute(this.#db);
      return rows;
    });
  }

  #heads(which: RawBuilder<unknown>) {
    return sql<ToolHead>`SELECT ${HEAD} FROM tool_heads h
      JOIN tool_versions v ON v.name = h.name AND v.content_hash = h.content_hash WHERE ${which}`.execute(
      this.#db,
    );
  }

  #version(which: RawBuilder<unknown>): Promise<ToolVersion | undefined> {
    return withDatabase(async () => {
      const { rows } = await sql<ToolVersion>`SELECT ${VERSION} FROM tool_versions WHERE ${which}
        ORDER BY created_at DESC, content_hash LIMIT 1`.execute(this.#db);
      return rows[0];
    });
  }

  /** Most are there already: only what is missing is sent. */
  async #recordBatch(batch: readonly NewToolVersion[]): Promise<void> {
    const { rows } = await sql<{ readonly name: string; readonly content_hash: string }>`
      SELECT name, content_hash FROM tool_versions WHERE (name, content_hash) IN (
        SELECT * FROM unnest(${batch.map(({ name }) => name)}::text[], ${batch.map(({ contentHash }) => contentHash)}::text[])
      )`.execute(this.#db);
    const known = new Set(rows.map((row) => `${row.name} ${row.content_hash}`));
    // In one order everywhere: replicas that record the same at once wait for each other, and never in a circle.
    const missing = batch
      .filter(({ name, contentHash }) => !known.has(`${name} ${contentHash}`))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    if (missing.length === 0) return;
    await this.#db.transaction().execute(async (trx) => {
      for (const version of missing) await insertVersion(trx, version);
      for (const name of new Set(missing.map((each) => each.name))) await prune(trx, name, this.#most);
    });
  }
}

async function generationOf(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ readonly generation: number }>`${GENERATION}`.execute(db);
  return rows[0]?.generation ?? 0;
}

async function commitIn(trx: Transaction<Tables>, change: HeadChange, most: number): Promise<CommitOutcome> {
  const { name, action, contentHash, ifRevision, ifGeneration } = change;
  await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(trx);
  const head = await trx
    .selectFrom('tool_heads')
    .select(['revision', 'enabled'])
    .where('name', '=', name)
    .executeTakeFirst();
  const seen = ifRevision === 0 && head?.enabled === false ? 0 : (head?.revision ?? 0);
  if (ifRevision !== undefined && ifRevision !== seen) return { committed: false, why: 'revision' };
  if (ifGeneration !== undefined && ifGeneration !== (await generationOf(trx)))
    return { committed: false, why: 'generation' };
  if (change.version !== undefined) await insertVersion(trx, change.version);
  const revision = (head?.revision ?? 0) + 1;
  const [by, note] = [storable(change.by), storable(change.note)];
  const enabled = action !== 'disable';
  await sql`INSERT INTO tool_heads (name, content_hash, enabled, revision, updated_by, note)
    VALUES (${name}, ${contentHash}, ${enabled}, ${revision}, ${by}, ${note})
    ON CONFLICT (name) DO UPDATE SET content_hash = excluded.content_hash, enabled = excluded.enabled,
      revision = excluded.revision, updated_by = excluded.updated_by, updated_at = now(), note = excluded.note`.execute(
    trx,
  );
  await trx
    .insertInto('tool_changes')
    .values({ name, revision, action, content_hash: contentHash, changed_by: by, note })
    .execute();
  await prune(trx, name, most);
  return { committed: true, revision };
}

async function insertVersion(trx: Transaction<Tables>, version: NewToolVersion): Promise<void> {
  const { name, contentHash, document, source, baseDir, createdBy, note } = version;
  await sql`INSERT INTO tool_versions (name, content_hash, version, document, source, base_dir, created_by, note)
    VALUES (${name}, ${contentHash}, ${storable(version.version)}, ${JSON.stringify(document)}::json, ${source},
      ${storable(baseDir)}, ${storable(createdBy)}, ${storable(note)})
    ON CONFLICT (name, content_hash) DO NOTHING`.execute(trx);
}

/** What is in force stays, however old it is. */
async function prune(trx: Transaction<Tables>, name: string, most: number): Promise<void> {
  await sql`DELETE FROM tool_versions v WHERE v.name = ${name}
    AND NOT EXISTS (SELECT FROM tool_heads h WHERE h.name = v.name AND h.content_hash = v.content_hash)
    AND v.content_hash IN (SELECT content_hash FROM tool_versions WHERE name = ${name}
      ORDER BY created_at DESC, content_hash OFFSET ${most})`.execute(trx);
  await sql`DELETE FROM tool_changes WHERE name = ${name} AND revision <=
    (SELECT max(revision) FROM tool_changes WHERE name = ${name}) - ${most}::integer`.execute(trx);
}
