// What of the paths that a program may see is really shown: never the gateway's own data, settings and keys.
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A folder that holds something hidden is shown entry by entry; one with more entries is not meant to be shown. */
const MAX_ENTRIES = 256;

export class VisiblePaths {
  readonly #hidden: readonly string[];
  readonly #shown: readonly string[];

  /** Absolute paths, whether or not something is there yet; `shown`: what in them may be shown all the same. */
  constructor(hidden: readonly string[], shown: readonly string[] = []) {
    this.#hidden = hidden;
    this.#shown = shown;
  }

  /** `paths`, with a folder that holds something hidden replaced by its other entries. Throws Error where that cannot be. */
  readable(paths: readonly string[]): readonly string[] {
    if (paths.length === 0) return paths;
    const hidden = this.#whereTheyAre();
    const open = this.#shown.map(realPath);
    return paths.flatMap((path) => (isBelow(realPath(path), open) ? [path] : shown(path, hidden, path)));
  }

  /** Throws Error for a folder that holds something hidden, or lies in it. */
  writable(paths: readonly string[]): readonly string[] {
    const hidden = paths.length === 0 ? [] : this.#whereTheyAre();
    const open = this.#shown.map(realPath);
    for (const path of paths) {
      const place = realPath(path);
      if (isBelow(place, open)) continue;
      const found = hidden.find((each) => isWithin(place, each) || isWithin(each, place));
      if (found !== undefined) throw refusal(path, found);
    }
    return paths;
  }

  #whereTheyAre(): readonly string[] {
    return this.#hidden.map(realPath);
  }
}

function shown(path: string, hidden: readonly string[], asked: string): readonly string[] {
  const place = realPath(path);
  const above = hidden.find((each) => isWithin(place, each));
  if (above !== undefined) {
    if (path === asked) throw refusal(path, above);
    return [];
  }
  const inside = hidden.find((each) => isWithin(each, place));
  if (inside === undefined) return [path];
  const entries = entriesOf(path);
  if (entries.length > MAX_ENTRIES) throw refusal(asked, inside);
  return entries
    .map((name) => join(path, name))
    .filter((each) => existsSync(each))
    .flatMap((each) => shown(each, hidden, asked));
}

function entriesOf(path: string): readonly string[] {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(path) : [];
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path !== folder && isWithin(path, folder));
}

/** Of what is not there yet: as it is written. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function refusal(path: string, hidden: string): Error {
  return new Error(
    `${path} cannot be shown in the sandbox: ${hidden} belongs to the gateway itself. Keep what tools need in a folder of its own.`,
  );
}
