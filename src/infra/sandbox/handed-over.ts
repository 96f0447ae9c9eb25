// What is shown of a path that the sandbox's user cannot come to: its files are handed over one by one, open already.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { join } from 'node:path';
import { mayPass, mayRead } from './reachable.ts';
import type { Owner } from './workspace/workspace-files.ts';

export type HandedOver =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  /** An open descriptor, for the receiver to close. */
  | { readonly kind: 'file'; readonly path: string; readonly fd: number; readonly isProgram: boolean };

/** Enough for modules of tools. They lie in memory then: an installation with thousands of files is not meant to. */
const MOST_FILES = 200;
const MOST_BYTES = 16 << 20;

/**
 * Everything below `path`, and itself, that this user could read there if only the way were open; folders before what is
 * in them. Undefined where it is too much.
 */
export function handOver(path: string, user: Owner): readonly HandedOver[] | undefined {
  const found: HandedOver[] = [];
  try {
    if (new Walk(found, user).add(realpathSync(path), path)) return found;
  } catch (error) {
    closeAll(found);
    throw error;
  }
  closeAll(found);
  return undefined;
}

function closeAll(handed: readonly HandedOver[]): void {
  for (const each of handed) if (each.kind === 'file') closeSync(each.fd);
}

class Walk {
  readonly #found: HandedOver[];
  readonly #user: Owner;
  #bytes = 0;

  constructor(found: HandedOver[], user: Owner) {
    this.#found = found;
    this.#user = user;
  }

  /** What lies at `place` is shown at `path`. False where it has become too much. */
  add(place: string, path: string): boolean {
    const seen = lstatSync(place);
    if (seen.isSymbolicLink()) {
      this.#found.push({ kind: 'link', path, target: readlinkSync(place) });
    } else if (seen.isDirectory() && mayRead(seen, this.#user) && mayPass(seen, this.#user)) {
      this.#found.push({ kind: 'folder', path });
      const names = readdirSync(place).filter((name) => name !== '__pycache__');
      return names.every((name) => this.add(join(place, name), join(path, name)));
    } else if (seen.isFile() && mayRead(seen, this.#user)) this.#file(place, path);
    return this.#found.length <= MOST_FILES && this.#bytes <= MOST_BYTES;
  }

  /** What is open now is what is shown: a link that took its place is refused, and so is what its owner has closed since. */
  #file(place: string, path: string): void {
    const fd = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size, ...opened } = fstatSync(fd);
    if (!mayRead(opened, this.#user)) return closeSync(fd);
    this.#bytes += size;
    this.#found.push({ kind: 'file', path, fd, isProgram: mayPass(opened, this.#user) });
  }
}
