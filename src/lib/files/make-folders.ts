// Makes a folder and those above it. Not by `recursive`, which tries again for ever where a file system takes no new folder and
// says so by ENOENT, as /proc does.
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../error-code.ts';

/** Folders that are there stay as they are; `mode` is for those that are made. Throws Error with a code of the system. */
export function makeFolders(path: string, mode?: number): void {
  const missing: string[] = [];
  for (let at = resolve(path); !isFolder(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
  for (const folder of missing.toReversed()) makeFolder(folder, mode);
}

function makeFolder(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (codeOf(error) !== 'EEXIST' || !isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}
