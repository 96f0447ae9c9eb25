// The version before the newest migration, built from this repository's history with its own packages: what a rolling update replaces.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { outsideEnv } from '../deploy/outside-env.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MIGRATIONS = 'src/infra/postgres/migrations';
const WITHIN_MS = 300_000;

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 30 }).trim();

export interface OlderVersion {
  readonly commit: string;
  /** Its program. */
  readonly main: string;
}

/** Throws Error where the history is not there: nothing else can stand for it. */
export function olderVersion(): OlderVersion {
  const commit = beforeNewestMigration();
  const dir = join(ROOT, 'node_modules/.cache/older-version', commit);
  const main = join(dir, 'dist/bundle/main.js');
  if (!existsSync(main)) build(commit, dir);
  return { commit, main };
}

function beforeNewestMigration(): string {
  const newest = readdirSync(join(ROOT, MIGRATIONS), { recursive: true, encoding: 'utf8' })
    .filter((path) => /^\d{4}-/.test(basename(path)))
    .toSorted((one, other) => (basename(one) < basename(other) ? -1 : 1))
    .at(-1);
  const path = `${MIGRATIONS}/${newest}`;
  try {
    // Under its first name: it may have been moved since.
    const added = git('log', '--follow', '--diff-filter=A', '--format=%H', '--', path).split('\n').at(-1);
    return git('rev-parse', '--verify', `${added}^`);
  } catch (cause) {
    throw new Error(
      `The version before ${path} is not in the history of this checkout: clone it whole, or git fetch --unshallow`,
      { cause },
    );
  }
}

function build(commit: string, dir: string): void {
  const fresh = `${dir}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1 << 30 });
    execFileSync('tar', ['-x', '-C', fresh], { input: archive });
    const lock = (at: string) => readFileSync(join(at, 'package-lock.json'), 'utf8');
    if (lock(ROOT) === lock(fresh)) symlinkSync(join(ROOT, 'node_modules'), join(fresh, 'node_modules'));
    else npm(['ci', '--prefer-offline', '--no-audit', '--no-fund', '--silent'], fresh);
    npm(['run', 'build', '--silent'], fresh);
    renameSync(fresh, dir);
  } catch (cause) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(`The version before, ${commit}, cannot be built`, { cause });
  }
}

function npm(args: readonly string[], cwd: string): void {
  const { NODE_PATH: _, ...env } = outsideEnv();
  execFileSync('npm', args, { cwd, env, timeout: WITHIN_MS, stdio: ['ignore', 'ignore', 'inherit'] });
}
