// Where the embedded database keeps what it needs: under data_dir, or, as another user than root, where that user can go.
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { makeFolders } from '../../lib/files/make-folders.ts';
import { letThrough } from '../sandbox/let-through.ts';
import { barrierAbove, mayPass, mayRead } from '../sandbox/reachable.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { makeLinks, type PostgresPackage } from './postgres-package.ts';
import { serverUser, type ServerUser } from './server-user.ts';

export interface Placement {
  /** Holds the cluster and its password; 0700. */
  readonly home: string;
  readonly cluster: string;
  readonly passwordFile: string;
  /** Undefined where the gateway is not root: its own. */
  readonly user: ServerUser | undefined;
  /** Why it is not under data_dir. */
  readonly moved?: string;
}

/** Of root, for what the database's user cannot reach elsewhere. */
export const SHARED = '/var/lib/unified-tool-executor';
/** Linux takes 107 bytes and an end; what a socket is named in its folder counts. */
const MAX_SOCKET_PATH = 107;
const SOCKET_NAME = '/.s.PGSQL.5432';

export interface PlaceOptions {
  readonly dataDir: string;
  readonly sandboxUid: number;
  readonly isRoot: boolean;
  /** Where things go that the user could not reach. */
  readonly shared?: string;
}

/** Makes the folders. Throws EmbeddedPostgresError naming the folder that is closed and the setting. */
export function placeCluster({ dataDir, sandboxUid, isRoot, shared = SHARED }: PlaceOptions): Placement {
  makeFolder(dataDir);
  const folder = realpathSync(dataDir);
  const own = join(folder, 'postgres');
  if (!isRoot) {
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return placementOf(realpathSync(own), undefined);
  }
  const user = serverUser(join(own, 'cluster'), folder, sandboxUid);
  const closed = barrierAbove(folder, user);
  if (closed === undefined) {
    openFor(folder, user);
    makeHome(own, user);
    return placementOf(realpathSync(own), user);
  }
  const home = join(shared, `${basename(folder)}-${hashOf(folder)}`);
  const moved = `the embedded database runs as user ${user.uid}, who cannot enter ${closed}`;
  // One that was reached before is not left behind for an empty one.
  if (lstatSync(own, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new EmbeddedPostgresError(
      `${moved}, and its files are below that in ${own}: open the folder again (chmod o+x ${closed}), or move data_dir out of it`,
    );
  try {
    mkdirSync(shared, { recursive: true, mode: 0o755 });
    makeHome(home, user);
    if (lstatSync(own, { throwIfNoEntry: false }) === undefined) symlinkSync(home, own);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `${moved}, and ${shared} cannot be used instead (${codeOf(error)}): set data_dir (UTE_DATA_DIR) to a folder outside of ${closed}`,
      error,
    );
  }
  return { ...placementOf(realpathSync(home), user), moved };
}

function placementOf(home: string, user: ServerUser | undefined): Placement {
  return { home, cluster: join(home, 'cluster'), passwordFile: join(home, 'password'), user };
}

function makeFolder(path: string): void {
  try {
    makeFolders(path);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `${resolve(path)} cannot be made (${codeOf(error)}): set data_dir (UTE_DATA_DIR) to a folder that can be written to`,
      error,
    );
  }
}

/** Root's own, and passed by the database's group alone. */
function makeHome(home: string, user: ServerUser): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  openFor(home, user);
}

function openFor(folder: string, user: ServerUser): void {
  try {
    letThrough(folder, user);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `the embedded database cannot run as user ${user.uid} here (${codeOf(error)} at ${folder}): start the gateway as an ordinary user, or set database.url (UTE_DATABASE_URL)`,
      error,
    );
  }
}

/** Where the binaries can be run by the user: where npm put them, or a copy of them. */
export function placeBinaries(
  found: PostgresPackage,
  user: ServerUser | undefined,
  home: string,
  shared = SHARED,
): string {
  const isComplete = makeLinks(found);
  const isReached = user === undefined || NEEDED.every((file) => canUse(join(found.root, file), user));
  if (isComplete && isReached) return found.root;
  const parent = user === undefined ? home : shared;
  const place = join(parent, `postgres-${found.version}-${process.platform}-${process.arch}`);
  if (existsSync(place)) return place;
  try {
    return copyBinaries(found, parent, place);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `the PostgreSQL in ${found.root} cannot be used where it is, nor copied to ${place} (${codeOf(error)}): install the gateway in a folder that others may enter, or set database.url (UTE_DATABASE_URL)`,
      error,
    );
  }
}

/** A umask may have closed what npm wrote; one program and one file stand for all. */
const NEEDED = ['bin/postgres', 'share/postgresql/postgres.bki'];

function canUse(path: string, user: ServerUser): boolean {
  const stat = statSync(path);
  const isProgram = (stat.mode & 0o100) !== 0;
  return barrierAbove(path, user) === undefined && mayRead(stat, user) && (!isProgram || mayPass(stat, user));
}

/** Whole or not at all. */
function copyBinaries(found: PostgresPackage, parent: string, place: string): string {
  mkdirSync(parent, { recursive: true, mode: 0o755 });
  const unfinished = mkdtempSync(`${place}.`);
  try {
    // Archives and package configurations are for building programs.
    const isNeeded = (path: string) => !/\.a$|\/pkgconfig$|\/include$/.test(path);
    cpSync(found.root, unfinished, { recursive: true, verbatimSymlinks: true, filter: isNeeded });
    makeLinks({ ...found, root: unfinished });
    openToAll(unfinished);
    renameSync(unfinished, place);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another process was first.
    if (!existsSync(place)) throw error;
  }
  return place;
}

function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    chmodSync(
      path,
      statSync(path).mode | (entry.isDirectory() || (statSync(path).mode & 0o100) !== 0 ? 0o555 : 0o444),
    );
  }
}

/** A folder for the socket alone: beside the cluster, or `runtime` where that path is too long for a socket. */
export function placeSocket({ home, user }: Placement, runtime: string): string {
  const beside = join(home, 'socket');
  const fits = Buffer.byteLength(beside + SOCKET_NAME) <= MAX_SOCKET_PATH;
  const folder = fits ? beside : runtime;
  try {
    // Whoever made the other one before knew a name that nobody was told.
    mkdirSync(folder, { recursive: fits, mode: 0o700 });
    chmodSync(folder, 0o700);
    if (user !== undefined) chownSync(folder, user.uid, user.gid);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `the folder of the embedded database's socket, ${folder}, cannot be made the database's own (${codeOf(error)}): start the gateway as the user who started it before, or set database.url (UTE_DATABASE_URL)`,
      error,
    );
  }
  return folder;
}

/** A private folder of this run, which is not made yet: where sockets of this user go, or temporary files. */
export function runtimeFolder(isRoot: boolean, env: NodeJS.ProcessEnv = process.env): string {
  const name = `ute-postgres-${randomBytes(6).toString('hex')}`;
  const { XDG_RUNTIME_DIR: own = '' } = env;
  const fits = (parent: string) =>
    isAbsolute(parent) &&
    existsSync(parent) &&
    Buffer.byteLength(join(parent, name) + SOCKET_NAME) <= MAX_SOCKET_PATH;
  return join((isRoot ? [] : [own, tmpdir()]).find(fits) ?? '/tmp', name);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
