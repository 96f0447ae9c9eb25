// The files a loader reads: paths into a list of files, and a fingerprint that tells when either changed.
import { hash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { hashOf, readSecret, readText, reasonOf } from '../../lib/text/read-text.ts';

export interface FoundFiles {
  /** Absolute, each once, in the order of the paths; within a folder by name. */
  readonly files: readonly string[];
  readonly problems: readonly Problem[];
}

const EMPTY_FOLDER =
  'holds no *.yaml and no *.yml file; a file with "tools: []" says that there are to be no tools';

/** A folder stands for the *.yaml and *.yml in it, hidden ones and folders left out. */
export async function findFiles(paths: readonly string[]): Promise<FoundFiles> {
  const files = new Set<string>();
  const problems: Problem[] = [];
  for (const path of paths) {
    try {
      const found = (await stat(path)).isDirectory() ? await yamlFilesIn(path) : [path];
      // A volume that is not mounted yet looks like this: it must not take the tools away.
      if (found.length === 0) problems.push({ file: path, message: EMPTY_FOLDER });
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

export function absolutePaths(paths: readonly string[], baseDir: string): readonly string[] {
  return paths.map((path) => resolve(baseDir, path));
}
