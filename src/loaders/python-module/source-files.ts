// The Python files below some folders, and a fingerprint of them that changes when their content does.
import { hash } from 'node:crypto';
import { opendir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** More than any folder of tools has; beyond, changes of the rest are not noticed. */
const MOST_FILES = 5_000;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const NOT_TOOLS: ReadonlySet<string> = new Set(['__pycache__', 'site-packages', 'node_modules']);

type Seen = Map<string, { readonly stat: string; readonly hash: string }>;

/** A file is read again only when something about it changed. */
export class PythonFiles {
  readonly #folders: readonly string[];
  #seen: Seen = new Map();

  constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  async fingerprint(): Promise<string> {
    const seen: Seen = new Map();
    for (const folder of this.#folders) await this.#visit(folder, seen);
    this.#seen = seen;
    const lines = [...seen].map(([file, { hash: content }]) => `${file} ${content}`);
    return hash('sha256', lines.toSorted().join('\n'));
  }

  async #visit(folder: string, seen: Seen): Promise<void> {
    try {
      for await (const entry of await opendir(folder)) {
        if (seen.size >= MOST_FILES) return;
        const path = join(folder, entry.name);
        if (entry.name.startsWith('.') || NOT_TOOLS.has(entry.name)) continue;
        if (entry.isDirectory()) await this.#visit(path, seen);
        else if (entry.name.endsWith('.py')) await this.#look(path, seen);
      }
    } catch {
      // What cannot be listed is as good as empty: that it is missing is said by the import.
    }
  }

  async #look(file: string, seen: Seen): Promise<void> {
    const about = await stat(file).catch(() => undefined);
    if (about?.isFile() !== true) return;
    const now = `${about.ino} ${about.size} ${about.mtimeMs} ${about.ctimeMs}`;
    const known = this.#seen.get(file);
    if (known?.stat === now) seen.set(file, known);
    else seen.set(file, { stat: now, hash: about.size > MAX_FILE_BYTES ? now : await contentHash(file) });
  }
}

async function contentHash(file: string): Promise<string> {
  return readFile(file).then(
    (content) => hash('sha256', content),
    (error: unknown) => String(error),
  );
}
