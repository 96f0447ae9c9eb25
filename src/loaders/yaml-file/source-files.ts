// The files a loader reads: paths into a list of files, files into text, and a fingerprint that tells when either changed.
import { hash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Problem } from '../../contract/loaded-tools.ts';

export interface FoundFiles {
  /** Absolute, each once, in the order of the paths; within a folder by name. */
  readonly files: readonly string[];
  readonly problems: readonly Problem[];
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** A folder stands for the *.yaml and *.yml in it, hidden ones and folders left out. */
export async function findFiles(paths: readonly string[]): Promise<FoundFiles> {
  const files = new Set<string>();
  const problems: Problem[] = [];
  for (const path of paths) {
    try {
      const found = (await stat(path)).isDirectory() ? await yamlFilesIn(path) : [path];
      for (const file of found) files.add(file);
    } catch (error) {
      problems.push({ file: path, message: `${reasonOf(error)}; expected a YAML file or a folder of them` });
    }
  }
  return { files: [...files], problems };
}

async function yamlFilesIn(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => /\.ya?ml$/.test(name) && !name.startsWith('.'));
  const files: string[] = [];
  for (const name of names.toSorted()) {
    const file = join(folder, name);
    if (!(await stat(file)).isDirectory()) files.push(file);
  }
  return files;
}

export type ReadText = { readonly text: string } | { readonly message: string };

/** UTF-8 without its byte order mark. Never throws: the message completes "the file …". */
export async function readText(file: string, maxBytes = MAX_FILE_BYTES): Promise<ReadText> {
  try {
    const about = await stat(file);
    if (!about.isFile()) return { message: 'is not a regular file' };
    if (about.size > maxBytes) return { message: `is larger than ${maxBytes} bytes` };
    const bytes = await readFile(file);
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { message: reasonOf(error) };
  }
}

const MAX_SECRET_BYTES = 1024 * 1024;

export function readSecret(file: string): Promise<ReadText> {
  return readText(file, MAX_SECRET_BYTES);
}

/** Cheap: changes whenever files come, go, or are written, and sometimes when nothing did. */
export async function statFingerprint(
  paths: readonly string[],
  secretFiles: Iterable<string>,
): Promise<string> {
  const { files } = await findFiles(paths);
  const lines = await Promise.all(
    [...files, ...secretFiles].map(async (file) => {
      const about = await stat(file).catch(() => undefined);
      return about === undefined
        ? `${file} -`
        : `${file} ${about.ino} ${about.size} ${about.mtimeMs} ${about.ctimeMs}`;
    }),
  );
  return lines.join('\n');
}

/** Changes exactly when the content does: from a file's path to the hash of its text. */
export function contentFingerprint(contents: ReadonlyMap<string, string>): string {
  const lines = [...contents].map(([file, content]) => `${file} ${content}`);
  return hash('sha256', lines.toSorted().join('\n'));
}

/** What the contents are now: path to hash, or to the reason why there is none. */
export async function hashContents(
  paths: readonly string[],
  secretFiles: Iterable<string>,
): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  const { files, problems } = await findFiles(paths);
  for (const { file, message } of problems) contents.set(file, message);
  for (const file of files) contents.set(file, hashOf(await readText(file)));
  for (const file of secretFiles) contents.set(file, hashOf(await readSecret(file)));
  return contents;
}

export function hashOf(read: ReadText): string {
  return 'text' in read ? hash('sha256', read.text) : read.message;
}

export function absolutePaths(paths: readonly string[], baseDir: string): readonly string[] {
  return paths.map((path) => resolve(baseDir, path));
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'is not UTF-8 text';
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'must not be read by this process';
  return `cannot be read: ${message}`;
}
