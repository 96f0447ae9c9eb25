// Files in a workspace that hostile programs write to: every step is taken from an open folder and follows no link.
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { codeOf } from '../../../lib/error-code.ts';
import type { SandboxFile } from '../../../ports/egress/sandbox.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** Of Linux; Node has no name for it. Opens a place without opening what is there. */
export const O_PATH = 0o10000000;
const MAX_DEPTH = 16;

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Names between slashes: none empty, `.` or `..`, no NUL, not too deep. */
export function isPlainPath(path: string): boolean {
  const names = path.split('/');
  return (
    names.length <= MAX_DEPTH &&
    names.every((name) => name !== '' && name !== '.' && name !== '..' && Buffer.byteLength(name) <= 255) &&
    !path.includes('\0') &&
    path.isWellFormed()
  );
}

/** What stands in a file's place is replaced, not written through. `owner` is whom the sandbox runs as. */
export function writeFiles(folder: number, files: readonly SandboxFile[], owner: Owner | undefined): void {
  for (const { path, content } of files) {
    inFolderOf(folder, path, owner, (place) => {
      attempt(() => unlinkSync(place), ['ENOENT']);
      const fd = openSync(place, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o644);
      try {
        if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid);
        for (let written = 0; written < content.length;) written += writeSync(fd, content, written);
      } finally {
        closeSync(fd);
      }
    });
  }
}

/** Plain files only: no link, device or pipe, no second name elsewhere. What is not there is left out. */
export function readFiles(
  folder: number,
  paths: readonly string[],
  maxBytes: number,
): readonly SandboxFile[] {
  const files: SandboxFile[] = [];
  let left = maxBytes;
  for (const path of paths) {
    const content = attempt(
      () => inFolderOf(folder, path, 'must exist', (place) => readPlain(place, path, left)),
      ['ENOENT'],
    );
    if (content === undefined) continue;
    left -= content.length;
    files.push({ path, content });
  }
  return files;
}

function readPlain(place: string, path: string, maxBytes: number): Buffer {
  // Without O_NONBLOCK, a named pipe would keep the gateway waiting for somebody to write.
  const fd = openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { size, nlink } = checkPlain(fd, path);
    if (nlink !== 1) throw unsafe(path, 'it has a second name');
    if (size > maxBytes) {
      const message = `The files of the result are larger than the limit: ${path} has ${size} bytes.`;
      throw toolFailure('FILES_TOO_LARGE', message);
    }
    const content = Buffer.alloc(size);
    let read = 0;
    for (let got = -1; got !== 0 && read < size; read += got)
      got = readSync(fd, content, read, size - read, read);
    return content.subarray(0, read);
  } finally {
    closeSync(fd);
  }
}

function checkPlain(fd: number, path: string): { readonly size: number; readonly nlink: number } {
  const found = fstatSync(fd);
  if (!found.isFile()) throw unsafe(path, 'it is not a plain file');
  return found;
}

/** Opens the folders on the way one by one, making those that are missing if they may be made. */
function inFolderOf<T>(
  folder: number,
  path: string,
  make: Owner | undefined | 'must exist',
  action: (place: string) => T,
): T {
  if (!isPlainPath(path)) throw unsafe(path, 'it does not stay in the workspace');
  const names = path.split('/');
  const last = names.pop() ?? '';
  const opened: number[] = [];
  try {
    for (const name of names) {
      const place = `/proc/self/fd/${opened.at(-1) ?? folder}/${name}`;
      const isNew = make !== 'must exist' && attempt(() => (mkdirSync(place, 0o755), true), ['EEXIST']);
      opened.push(openSync(place, O_PATH | O_DIRECTORY | O_NOFOLLOW));
      if (isNew === true && typeof make === 'object') chownFolder(opened.at(-1), make);
    }
    return action(`/proc/self/fd/${opened.at(-1) ?? folder}/${last}`);
  } catch (error) {
    throw readably(error, path);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function chownFolder(place: number | undefined, { uid, gid }: Owner): void {
  // A descriptor that only names a place cannot change it.
  const fd = openSync(`/proc/self/fd/${place}/.`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    fchownSync(fd, uid, gid);
  } finally {
    closeSync(fd);
  }
}

const LINKED = ['ELOOP', 'ENOTDIR', 'ENXIO', 'EACCES', 'EISDIR', 'EPERM'];

function readably(error: unknown, path: string): unknown {
  return LINKED.includes(codeOf(error)) ? unsafe(path, 'it is not a plain file in plain folders') : error;
}

function unsafe(path: string, why: string): ToolFailure {
  const message = `The workspace's ${JSON.stringify(path)} is refused: ${why}.`;
  return toolFailure('UNSAFE_FILE', message, { origin: 'tool' });
}

function attempt<T>(action: () => T, expected: readonly string[]): T | undefined {
  try {
    return action();
  } catch (error) {
    if (expected.includes(codeOf(error))) return undefined;
    throw error;
  }
}
