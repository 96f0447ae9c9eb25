// Writes what an older version kept in PGlite as `ute database import` reads it: node scripts/export-pglite.js data/database backup/
// Needs PGlite, which is no dependency any more: npm install --no-save @electric-sql/pglite@0.5.16
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [from, folder] = process.argv.slice(2);
if (folder === undefined || !existsSync(join(from, 'PG_VERSION'))) {
  process.stderr.write('usage: node scripts/export-pglite.js <data_dir>/database <new folder>\n');
  process.exit(2);
}
const { PGlite } = await import('@electric-sql/pglite').catch(() => {
  process.stderr.write('PGlite is not installed: npm install --no-save @electric-sql/pglite@0.5.16\n');
  process.exit(1);
});
mkdirSync(folder, { recursive: true, mode: 0o700 });
if (readdirSync(folder).length > 0) {
  process.stderr.write(`${folder} is not empty: name a new folder\n`);
  process.exit(1);
}

const database = await PGlite.create(from);
const { rows: migrations } = await database.query('SELECT name FROM ute_migrations ORDER BY name');
const { rows: found } = await database.query(`
  SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE a.attgenerated = '') AS columns
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
    AND c.relname NOT IN ('ute_migrations', 'ute_migrations_lock')
  GROUP BY c.oid
  ORDER BY (SELECT count(*) FROM pg_constraint f WHERE f.conrelid = c.oid AND f.contype = 'f'), c.relname`);
const tables = [];
for (const { name, columns } of found) {
  const list = columns.map((column) => `"${column}"`).join(', ');
  const { blob } = await database.query(`COPY "${name}" (${list}) TO '/dev/blob'`);
  // Of an empty table there is none.
  const bytes = Buffer.from((await blob?.arrayBuffer()) ?? []);
  const { rows } = await database.query(`SELECT count(*)::int AS n FROM "${name}"`);
  writeFileSync(join(folder, `${name}.copy`), bytes, { flag: 'wx', mode: 0o600 });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  tables.push({ name, columns, rows: rows[0].n, sha256 });
  process.stdout.write(`${name}: ${rows[0].n} rows\n`);
}
const manifest = { format: 1, gateway: 'of PGlite', migrations: migrations.map(({ name }) => name), tables };
writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
await database.close();
