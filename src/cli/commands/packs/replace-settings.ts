// gateway.yaml in the place of the one before: whole or not at all, for the same readers, and never over what somebody else has written meanwhile.
import {
  chmodSync,
  chownSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from '../../../lib/files/make-folders.ts';
import { CliFailure, EXIT } from '../../exit-code.ts';

export interface Replacement {
  /** What was read; undefined: there was none. */
  readonly before: string | undefined;
  readonly text: string;
  /** Rejects with CliFailure for a draft that no gateway would start with. */
  readonly check: (draft: string) => Promise<void>;
}

/** Undefined: there is none. Throws CliFailure. */
export function settingsText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new CliFailure(EXIT.failed, `${file} cannot be read: ${message}`);
  }
}

/** Throws CliFailure. A full disk, or a draft that is refused, leaves what was there. */
export async function replaceSettings(file: string, { before, text, check }: Replacement): Promise<void> {
  // Beside the file as it is named: relative paths in it start there.
  const draft = `${file}.${process.pid}.yaml`;
  let unfinished = draft;
  try {
    makeFolders(dirname(file));
    // A link stays one: what it leads to is what is replaced, and a rename stays within a folder.
    const place = before === undefined ? file : realpathSync(file);
    const like = before === undefined ? undefined : statSync(place);
    write(draft, text, like);
    await check(draft);
    if (dirname(place) !== dirname(draft)) write((unfinished = `${place}.${process.pid}.yaml`), text, like);
    if (settingsText(file) !== before)
      throw new CliFailure(EXIT.failed, `${file} was changed meanwhile, and stays as it is: run this again`);
    renameSync(unfinished, place);
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new CliFailure(EXIT.failed, `${file} cannot be written: ${(error as Error).message}`);
  } finally {
    for (const each of [draft, unfinished]) rmSync(each, { force: true });
  }
}

/** It may hold secrets: read by nobody who could not read the one before, not even for a moment. */
function write(file: string, text: string, like: Stats | undefined): void {
  writeFileSync(file, text, { flag: 'wx', ...(like && { mode: 0o600 }) });
  if (like === undefined) return;
  const { uid, gid } = statSync(file);
  if (uid !== like.uid || gid !== like.gid) chownSync(file, like.uid, like.gid);
  chmodSync(file, like.mode & 0o7777);
}
