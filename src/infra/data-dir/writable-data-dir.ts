// The data directory of a gateway that starts: it has to be one that can be written, which is said before anything needs it.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '../../lib/files/make-folders.ts';

/** An empty file is taken by a disk that is full, too. */
const PROBE = Buffer.alloc(64 * 1024);

/** What the operator sees besides the code, which alone says little. */
const MEANS: { readonly [code: string]: string } = {
  ENOENT: 'no folder can be made there',
  EEXIST: 'a file is in its place',
  ENOTDIR: 'a file is in the place of a folder above it',
  EACCES: 'the user of the gateway may not write there',
  EPERM: 'the user of the gateway may not write there',
  EROFS: 'its disk can only be read',
  ENOSPC: 'its disk is full',
  EDQUOT: 'the quota of the user is used up',
};

/** Throws Error with the folder, what is wrong with it and the setting. */
export function requireWritable(dataDir: string): void {
  const probe = join(dataDir, `.probe-${process.pid}`);
  try {
    makeFolders(dataDir, 0o700);
    try {
      writeFileSync(probe, PROBE);
    } finally {
      rmSync(probe, { force: true });
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const means = MEANS[code];
    throw new Error(
      `the data directory ${dataDir} cannot be written (${code}${means === undefined ? '' : `: ${means}`}): ` +
        'give the gateway a folder that its user may write, by data_dir or UTE_DATA_DIR',
      { cause: error },
    );
  }
}
