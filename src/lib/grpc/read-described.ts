// What describes the services of a connection, read from where the operator says that it is.
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Timers } from '../timers/timers.ts';
import { compileElsewhere } from './compile-elsewhere.ts';
import { readDescriptorSet, type Described } from './descriptor-set.ts';

export interface DescriptionFields {
  readonly protos?: string | readonly string[] | undefined;
  readonly import_paths?: readonly string[] | undefined;
  readonly descriptor_set?: string | undefined;
  readonly descriptors?: string | undefined;
}

const MOST_SET_BYTES = 32 << 20;

/** Relative paths start at `baseDir`. Undefined: nothing is said. Rejects with Error, a sentence for the operator. */
export async function readDescribed(
  { protos, import_paths: paths, descriptor_set: set, descriptors }: DescriptionFields,
  baseDir: string,
  clock: Timers,
  signal: AbortSignal,
): Promise<Described | undefined> {
  if (descriptors !== undefined) return readDescriptorSet(Buffer.from(descriptors, 'base64'));
  if (protos !== undefined) {
    const importPaths = (paths ?? ['.']).map((path) => resolve(baseDir, path));
    const files = [protos].flat().map((path) => resolve(baseDir, path));
    return compileElsewhere({ files, importPaths }, clock, signal);
  }
  return set === undefined ? undefined : readSet(resolve(baseDir, set));
}

/** Changes when one of the files that are named does. */
export async function fingerprintOf(
  { protos = [], descriptor_set: set }: DescriptionFields,
  baseDir: string,
): Promise<string> {
  const files = [...[protos].flat(), ...(set === undefined ? [] : [set])].map((path) =>
    resolve(baseDir, path),
  );
  const seen = files.map(async (path) => {
    const about = await stat(path).catch(() => undefined);
    return about === undefined ? '-' : `${about.ino} ${about.size} ${about.mtimeMs}`;
  });
  return (await Promise.all(seen)).join(', ');
}

async function readSet(path: string): Promise<Described> {
  try {
    if ((await stat(path)).size > MOST_SET_BYTES)
      throw new Error(`it is larger than ${MOST_SET_BYTES} bytes`);
    return readDescriptorSet(await readFile(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      `descriptor_set: ${path} ${code === 'ENOENT' ? 'does not exist' : `cannot be read: ${message}`}.`,
      { cause: error },
    );
  }
}
