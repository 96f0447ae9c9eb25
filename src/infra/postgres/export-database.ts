// The gateway's records as a folder of files: one COPY of each table, and a manifest that says what is in it.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, escapeIdentifier } from 'pg';
import { z } from 'zod';
import { makeFolders } from '../../lib/files/make-folders.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { VERSION } from '../../version.ts';
import { copyIn, copyOut } from './copy-tables.ts';
import { Database } from './database.ts';
import { clientConfigOf, type DatabaseSettings } from './roles/connect-as.ts';
import { MIGRATIONS } from './migrations/index.ts';

const MANIFEST = 'manifest.json';

const manifestSchema = z.object({
  format: z.literal(1),
  gateway: z.string(),
  migrations: z.array(z.string()).min(1),
  tables: z.array(
    z.object({
      name: z.string().regex(/^[a-z_]+$/),
      columns: z.array(z.string()).min(1),
      rows: z.number().int().min(0),
      sha256: z.string(),
      /** Of one that has a partition for each day: 20260131. They are made before it is read in. */
      days: z.array(z.string().regex(/^\d{8}$/)).optional(),
    }),
  ),
});

type Manifest = z.infer<typeof manifestSchema>;
export type MovedTable = Pick<Manifest['tables'][number], 'name' | 'rows'>;

/** `folder` is made, and must be empty. Throws Error with a sentence for the operator. */
export async function exportDatabase(
  settings: DatabaseSettings,
  folder: string,
  log: Log,
): Promise<readonly MovedTable[]> {
  makeFolders(folder, 0o700);
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty: name a new folder`);
  // Refuses a schema that this version does not know.
  const database = await Database.open(settings, log);
  await database.close();
  return withClient(settings, async (client) => {
    // All tables as they were at one moment.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const tables: Manifest['tables'] = [];
    for (const { name, columns, days } of await tablesOf(client)) {
      const path = join(folder, `${name}.copy`);
      const { rows, sha256 } = await exportTable(client, name, columns, path);
      tables.push({ name, columns, rows, sha256, ...(days !== null && { days }) });
    }
    await client.query('COMMIT');
    const manifest: Manifest = { format: 1, gateway: VERSION, migrations: Object.keys(MIGRATIONS), tables };
    // Last: a folder without it is not whole.
    await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    return tables;
  });
}

async function exportTable(client: Client, name: string, columns: readonly string[], path: string) {
  const file = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  try {
    // Of all its partitions: COPY of the table itself would be of none.
    const all = `SELECT ${columnList(columns)} FROM ${escapeIdentifier(name)}`;
    const rows = await copyOut(client, `COPY (${all}) TO STDOUT`, async (chunk) => {
      hash.update(chunk);
      await file.appendFile(chunk);
    });
    await file.sync();
    return { rows, sha256: hash.digest('hex') };
  } finally {
    await file.close();
  }
}

/** Into a database that holds nothing. All of it or nothing. Throws Error with a sentence for the operator. */
export async function importDatabase(
  settings: DatabaseSettings,
  folder: string,
  log: Log,
): Promise<readonly MovedTable[]> {
  const manifest = await readManifest(folder);
  for (const table of manifest.tables) await checkFile(folder, table);
  const last = manifest.migrations.at(-1) ?? '';
  await Database.migrateTo(settings, last, log);
  await withClient(settings, async (client) => {
    await client.query('BEGIN');
    for (const table of manifest.tables) await importTable(client, folder, table);
    await client.query('COMMIT');
    await client.query('ANALYZE');
  });
  // To the schema of this version.
  const database = await Database.open({ ...settings, migrate: true }, log);
  await database.close();
  return manifest.tables;
}

async function importTable(
  client: Client,
  folder: string,
  { name, columns, rows, days = [] }: Manifest['tables'][number],
): Promise<void> {
  for (const day of days) await client.query('SELECT audit_partition($1::date)', [day]);
  const { rowCount } = await client.query(`SELECT FROM ${escapeIdentifier(name)} LIMIT 1`);
  if ((rowCount ?? 0) > 0)
    throw new Error(
      `the database holds records already (in ${name}): import into a new data_dir or database`,
    );
  const chunks = createReadStream(join(folder, `${name}.copy`));
  const copied = await copyIn(client, `COPY ${target(name, columns)} FROM STDIN`, chunks);
  if (copied !== rows) throw new Error(`${name}.copy holds ${copied} rows, and its manifest says ${rows}`);
  await goOnCounting(client, name);
}

/** Where rows are numbered by the table itself: the next one comes behind those that were brought. */
async function goOnCounting(client: Client, table: string): Promise<void> {
  const { rows } = await client.query<{ column: string }>(
    `SELECT attname::text AS column FROM pg_attribute WHERE attrelid = $1::regclass AND attidentity <> ''`,
    [escapeIdentifier(table)],
  );
  for (const { column } of rows)
    await client.query(
      `SELECT setval(pg_get_serial_sequence($1, $2), last) FROM
        (SELECT max(${escapeIdentifier(column)}) AS last FROM ${escapeIdentifier(table)}) AS brought WHERE last IS NOT NULL`,
      [escapeIdentifier(table), column],
    );
}

async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch((error: unknown) => {
    throw new Error(`${folder} is no whole export: it has no ${MANIFEST}`, { cause: error });
  });
  const parsed = manifestSchema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`${join(folder, MANIFEST)} is not of this version's format`);
  const unknown = parsed.data.migrations.filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0)
    throw new Error(
      `${folder} was exported by unified-tool-executor ${parsed.data.gateway}, whose schema is newer than this version's`,
    );
  return parsed.data;
}

async function checkFile(folder: string, { name, sha256 }: Manifest['tables'][number]): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(join(folder, `${name}.copy`))) hash.update(chunk as Buffer);
  if (hash.digest('hex') !== sha256)
    throw new Error(`${join(folder, `${name}.copy`)} is not what was exported: its checksum differs`);
}

const columnList = (columns: readonly string[]) =>
  columns.map((column) => escapeIdentifier(column)).join(', ');

const target = (name: string, columns: readonly string[]) =>
  `${escapeIdentifier(name)} (${columnList(columns)})`;

interface Table {
  readonly name: string;
  readonly columns: string[];
  readonly days: string[] | null;
}

/** Those that others refer to come first. What is computed from other columns is computed again. */
async function tablesOf(client: Client): Promise<readonly Table[]> {
  const { rows } = await client.query<Table>(`
    SELECT c.relname AS name,
      array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE a.attgenerated = '') AS columns,
      (SELECT array_agg(right(p.relname, 8) ORDER BY p.relname) FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid
        WHERE i.inhparent = c.oid AND c.relkind = 'p') AS days
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
      AND c.relname NOT IN ('ute_migrations', 'ute_migrations_lock')
    GROUP BY c.oid
    ORDER BY (SELECT count(*) FROM pg_constraint f WHERE f.conrelid = c.oid AND f.contype = 'f'), c.relname`);
  return rows;
}

async function withClient<T>(settings: DatabaseSettings, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(await clientConfigOf(settings));
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
