// Tool folders on disk: which folders are tools, and what lies in them.
import { hash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readText } from '../text/read-text.ts';

export const SCHEMA_FILE = 'schema.json';
export const SUMMARY_FILE = 'doc_summary.md';
export const DOC_FILE = 'doc.md';
export const HANDLER_FILE = 'handler.js';
export const OWN_FILES = [SCHEMA_FILE, SUMMARY_FILE, DOC_FILE, HANDLER_FILE] as const;
export type OwnFile = (typeof OWN_FILES)[number];

const MAX_BYTES: Readonly<Record<OwnFile, number>> = {
  [SCHEMA_FILE]: 256 * 1024,
  [SUMMARY_FILE]: 16 * 1024,
  [DOC_FILE]: 256 * 1024,
  [HANDLER_FILE]: 256 * 1024,
};
/** Beside its own: what a handler imports. */
const MOST_FILES = 200;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MOST_LEVELS = 8;

export interface FileFault {
  readonly file: string;
  readonly message: string;
}

export interface FolderFiles {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly texts: Readonly<Partial<Record<OwnFile, string>>>;
  /** sha256 of each file that code may consist of, by its path below the folder. */
  readonly code: Readonly<Record<string, string>>;
  readonly faults: readonly FileFault[];
}

/** Folders that hold one of the files of a tool, by name; those that begin with `_` or `.` are none. Rejects where there is no folder. */
export async function toolFolders(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries
    .filter(
      (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !/^[._]|^node_modules$/.test(entry.name),
    )
    .map(({ name }) => name)
    .toSorted();
  const isTool = await Promise.all(names.map((name) => holdsTool(join(path, name))));
  return names.filter((_, index) => isTool[index]);
}

async function holdsTool(folder: string): Promise<boolean> {
  const found = await Promise.all(
    OWN_FILES.map((name) =>
      stat(join(folder, name)).then(
        (about) => about.isFile(),
        () => false,
      ),
    ),
  );
  return found.includes(true);
}

/** Never rejects: what cannot be read is a fault. */
export async function readFolder(root: string, name: string): Promise<FolderFiles> {
  const path = join(root, name);
  const texts: Partial<Record<OwnFile, string>> = {};
  const faults: FileFault[] = [];
  for (const own of OWN_FILES) {
    const file = join(path, own);
    const read = await readText(file, MAX_BYTES[own]);
    if ('text' in read) texts[own] = read.text;
    else faults.push({ file, message: `${read.message}: a tool consists of ${OWN_FILES.join(', ')}` });
  }
  const code: Record<string, string> = {};
  const tooMuch = await readCode(path, '', 0, code);
  if (tooMuch !== undefined) faults.push({ file: path, message: tooMuch });
  return { name, path, texts, code, faults };
}

/** What is wrong with how much there is. */
async function readCode(
  root: string,
  below: string,
  depth: number,
  code: Record<string, string>,
): Promise<string | undefined> {
  if (depth > MOST_LEVELS) return `holds folders deeper than ${MOST_LEVELS} levels`;
  const entries = await readdir(join(root, below), { withFileTypes: true }).catch(() => []);
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (
      entry.name.startsWith('.') ||
      entry.name === 'node_modules' ||
      path.endsWith('.md') ||
      path === SCHEMA_FILE
    )
      continue;
    if (entry.isDirectory()) {
      const fault = await readCode(root, path, depth + 1, code);
      if (fault !== undefined) return fault;
      continue;
    }
    if (Object.keys(code).length >= MOST_FILES) return `holds more than ${MOST_FILES} files`;
    const about = await stat(join(root, path)).catch(() => undefined);
    if (about?.isFile() !== true) continue;
    if (about.size > MAX_FILE_BYTES) return `holds ${path}, which is larger than ${MAX_FILE_BYTES} bytes`;
    code[path] = hash('sha256', await readFile(join(root, path)));
  }
  return undefined;
}
