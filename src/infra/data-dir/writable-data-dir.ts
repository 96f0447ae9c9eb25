// The data directory of a gateway that starts: it has to be one that can be written, which is said before anything needs it.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Throws Error with the folder, what is wrong with it and the setting. */
export function requireWritable(dataDir: string): void {
  const probe = join(dataDir, `.probe-${process.pid}`);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(probe, '');
    rmSync(probe);
  } catch (error) {
    throw new Error(
      `the data directory ${dataDir} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)}): ` +
        'give the gateway a folder that its user may write, by data_dir or UTE_DATA_DIR',
      { cause: error },
    );
  }
}
