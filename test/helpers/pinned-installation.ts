// Packages of registries that a suite needs, in a folder that stays: installed at first, in exactly the versions of its own lock files.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface PinnedSuite {
  /** What the folder's name begins with, and what is said where it cannot be installed. */
  readonly name: string;
  /** The folder with package.json and package-lock.json, with requirements.txt, or with both. */
  readonly from: string;
  /** What it is installed in; beside node_modules where left out. */
  readonly root?: string;
}

const BESIDE_NODE_MODULES = resolve(import.meta.dirname, '../../node_modules/.cache');
const WITHIN_MS = 600_000;
const NPM = ['package.json', 'package-lock.json'];
const PYTHON = 'requirements.txt';

/**
 * Gives the folder: `node_modules` is in it, and the virtual environment `python`. Only a whole installation is found again: one
 * that was cut off is made anew. No scripts of packages are run. Throws Error that names what cannot be had.
 */
export function installPinned({ name, from, root = BESIDE_NODE_MODULES }: PinnedSuite): string {
  const files = [...NPM, PYTHON].filter((file) => existsSync(join(from, file)));
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(from, file)));
  const dir = join(root, `${name}-${hash.digest('hex').slice(0, 16)}`);
  const installed = join(dir, 'installed');
  if (existsSync(installed)) return dir;
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const file of files) copyFileSync(join(from, file), join(dir, file));
  const run = (program: string, args: readonly string[], needs: string) => {
    const { status, signal, error, stderr } = spawnSync(program, args, {
      cwd: dir,
      encoding: 'utf8',
      timeout: WITHIN_MS,
    });
    if (status === 0) return;
    const why = error?.message ?? `${program} ended with ${status ?? signal}: ${stderr.trim().slice(-2_000)}`;
    throw new Error(`${name} cannot be installed: it needs ${needs}. ${why}`);
  };
  if (files.includes('package.json'))
    run('npm', ['ci', '--silent', '--ignore-scripts'], 'the registry of npm');
  if (files.includes(PYTHON)) {
    run('python3', ['-m', 'venv', 'python'], 'Python with venv (apt-get install python3-venv)');
    run(join(dir, 'python/bin/pip'), ['install', '--quiet', '--requirement', PYTHON], 'PyPI');
  }
  writeFileSync(installed, '');
  return dir;
}
