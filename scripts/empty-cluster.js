// Makes the empty database cluster that an embedded database begins as: a copy takes a moment, making one takes seconds.
// Kept in dist/ until another PGlite is installed.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';

const ROOT = join(import.meta.dirname, '..');
const CLUSTER = join(ROOT, 'dist/empty-cluster');
const MADE_BY = `${CLUSTER}.version`;

const { version } = JSON.parse(
  readFileSync(join(ROOT, 'node_modules/@electric-sql/pglite/package.json'), 'utf8'),
);
const isCurrent =
  existsSync(CLUSTER) && existsSync(MADE_BY) && readFileSync(MADE_BY, 'utf8').trim() === version;
if (!isCurrent) {
  const unfinished = `${CLUSTER}.new`;
  for (const path of [CLUSTER, unfinished]) rmSync(path, { recursive: true, force: true });
  const database = await PGlite.create(unfinished);
  await database.close();
  rmSync(join(unfinished, 'postmaster.pid'), { force: true });
  renameSync(unfinished, CLUSTER);
  writeFileSync(MADE_BY, `${version}\n`);
}
