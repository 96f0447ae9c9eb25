// Whether a data_dir has an embedded database, without making one there.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Its folder, or a link to where it is; or one of PGlite, whose opening says what to do. */
export function holdsDatabase(dataDir: string): boolean {
  return ['postgres', 'database'].some((name) => existsSync(join(dataDir, name)));
}
