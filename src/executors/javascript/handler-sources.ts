// HandlerSources: the files that a handler is made of, its own and those it imports by relative paths, and whether they
// still are what was read.
import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';

interface KnownFile {
  /** Changes with every write; the content is read again only when it does. */
  readonly stamp: string;
  readonly sha256: string;
}

/** More than any handler imports; beyond, changes are not noticed. */
const MOST_FILES = 200;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const GONE: KnownFile = { stamp: '', sha256: '' };
/**
 * `import … from './x.js'`, `export … from`, `import './x.js'` and `import('./x.js')`; what a comment holds is harmless.
 * No search goes beyond the next of these words: the time a file takes grows with its length alone.
 */
const RELATIVE_IMPORT =
  /\b(?:import|export)\b(?:(?:(?!\b(?:import|export)\b)[^'"`;()]){0,2000}?\bfrom)?\s{0,100}\(?\s{0,100}['"](\.{1,2}\/[^'"\n]+)['"]/g;

export class HandlerSources {
  readonly #files: Map<string, KnownFile>;

  private constructor(files: Map<string, KnownFile>) {
    this.#files = files;
  }

  /** `imports`: whether what the file imports belongs to it. */
  static async read(path: string, imports: boolean): Promise<HandlerSources> {
    const files = new Map<string, KnownFile>();
    const open = [path];
    for (let file = open.shift(); file !== undefined && files.size < MOST_FILES; file = open.shift()) {
      if (files.has(file)) continue;
      const { known, text } = await look(file);
      files.set(file, known);
      if (imports) open.push(...relativeImports(text, file));
    }
    return new HandlerSources(files);
  }

  /** The first, by its path from the folder, whose content is not the expected one, or of which nothing is expected. */
  firstOther(folder: string, expected: { readonly [path: string]: string }): string | undefined {
    for (const [file, { sha256 }] of this.#files) {
      const path = relative(folder, file).replaceAll(sep, '/');
      if (!Object.hasOwn(expected, path) || expected[path] !== sha256) return path;
    }
    return undefined;
  }

  /** Of every content. */
  get digest(): string {
    const contents = [...this.#files].map(([file, { sha256 }]) => `${file} ${sha256}`);
    return hash('sha256', contents.toSorted().join('\n'));
  }

  /** Of every content, in the order they import each other: the same wherever the files lie. */
  get contents(): string {
    return hash('sha256', [...this.#files.values()].map(({ sha256 }) => sha256).join('\n'));
  }

  /** Asks for times and sizes; reads what seems to have changed. */
  async haveChanged(): Promise<boolean> {
    for (const [file, known] of this.#files) {
      if ((await stampOf(file)) === known.stamp) continue;
      const { known: now } = await look(file);
      if (now.sha256 !== known.sha256) return true;
      this.#files.set(file, now);
    }
    return false;
  }
}

async function look(file: string): Promise<{ readonly known: KnownFile; readonly text: string }> {
  // The stamp first: a write in between makes the next look read again.
  const stamp = await stampOf(file);
  if (stamp === GONE.stamp) return { known: GONE, text: '' };
  const text = await readFile(file, 'utf8').catch(() => '');
  return { known: { stamp, sha256: hash('sha256', text) }, text };
}

/** What is no file, or far too large to be a handler's, is as good as gone. */
async function stampOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_FILE_BYTES) return GONE.stamp;
  return `${found.mtimeNs}:${found.ctimeNs}:${found.size}:${found.ino}`;
}

function relativeImports(text: string, file: string): readonly string[] {
  return [...text.matchAll(RELATIVE_IMPORT)].map(([, specifier = '']) => {
    const [path = ''] = specifier.split(/[?#]/, 1);
    return resolve(dirname(file), decoded(path));
  });
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
