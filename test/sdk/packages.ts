// The SDKs as whoever installs them has them: packed, and installed from the package into a clean folder.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'; // oxfmt-ignore
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '../..');
/** What is installed from registries stays for the next run; CI may keep it. */
const KEPT = process.env['UTE_TEST_SDK_DIR'] ?? join(tmpdir(), 'ute-sdk-packages');
const NAME = 'unified-tool-executor-sdk';
/** From registries, on a busy machine. */
const INSTALLED_WITHIN_MS = 800_000;

export function run(program: string, args: readonly string[], cwd: string, withinMs = 280_000): string {
  try {
    return execFileSync(program, args, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: withinMs,
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** A folder below which the TypeScript SDK is installed from its tarball, without a registry. */
export function installTypescript(): string {
  const dir = mkdtempSync(join(tmpdir(), 'ute-sdk-typescript-'));
  const source = join(ROOT, 'sdk/typescript');
  run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.json'], source);
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', dir], source);
  const tarball = readdirSync(dir).find((name) => name.endsWith('.tgz')) ?? '';
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }));
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', `./${tarball}`], dir);
  return dir;
}

/** What an installed package exports, by the name that its user imports. */
export async function imported<Exports>(dir: string, entry = ''): Promise<Exports> {
  const manifest = JSON.parse(readFileSync(join(dir, 'node_modules', NAME, 'package.json'), 'utf8')) as {
    exports: Record<string, { default: string }>;
  };
  const file = manifest.exports[entry === '' ? '.' : `./${entry}`]?.default ?? '';
  return (await import(pathToFileURL(join(dir, 'node_modules', NAME, file)).href)) as Exports;
}

function keptFolder(requirements: string, make: (folder: string) => void): string {
  const folder = join(KEPT, createHash('sha256').update(requirements).digest('hex').slice(0, 16));
  if (existsSync(join(folder, 'whole'))) return folder;
  rmSync(folder, { recursive: true, force: true });
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  make(making);
  writeFileSync(join(making, 'whole'), '');
  try {
    renameSync(making, folder);
  } catch (error) {
    // Several files install the same at the same time, and one of them is the first.
    if (!existsSync(join(folder, 'whole'))) throw error;
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

/** A folder below which the packages of providers and frameworks are installed, from npm at first. */
export function keptPackages(): string {
  const lists = ['package.json', 'package-lock.json'].map((name) =>
    readFileSync(join(import.meta.dirname, 'frameworks', name), 'utf8'),
  );
  return keptFolder(lists.join(''), (folder) => {
    cpSync(join(import.meta.dirname, 'frameworks'), folder, { recursive: true });
    run(
      'npm',
      ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'],
      folder,
      INSTALLED_WITHIN_MS,
    );
  });
}

/** A folder of wheels for everything that the tests in Python need, from PyPI at first. */
function wheels(): string {
  const file = join(import.meta.dirname, 'requirements.txt');
  return keptFolder(readFileSync(file, 'utf8'), (folder) => {
    run(
      'python3',
      ['-m', 'pip', 'download', '--quiet', '--dest', folder, '--requirement', file],
      folder,
      INSTALLED_WITHIN_MS,
    );
  });
}

/** An environment with the packages of providers and frameworks, which stays; what is tested is no part of it. */
function frameworks(): string {
  const file = join(import.meta.dirname, 'requirements-frameworks.txt');
  return keptFolder(readFileSync(file, 'utf8'), (folder) => {
    run('python3', ['-m', 'venv', join(folder, 'venv')], folder);
    const asked = ['-m', 'pip', 'install', '--quiet', '--no-compile', '--requirement', file];
    run(join(folder, 'venv/bin/python'), asked, folder, INSTALLED_WITHIN_MS);
  });
}

export interface InstalledPython {
  readonly python: string;
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The interpreter of a clean environment in which the Python SDK is installed from its wheel. */
export function installPython(): InstalledPython {
  const dir = mkdtempSync(join(tmpdir(), 'ute-sdk-python-'));
  const given = wheels();
  const python = join(dir, 'venv/bin/python');
  run('python3', ['-m', 'venv', join(dir, 'venv')], dir);
  const offline = ['-m', 'pip', 'install', '--quiet', '--no-index', '--find-links', given];
  run(
    python,
    [...offline, 'hatchling', 'setuptools', 'wheel', 'pytest', 'mypy', 'websockets', 'grpcio', 'protobuf'],
    dir,
  );
  buildWheels(python, dir);
  run(python, [...offline, '--find-links', join(dir, 'wheels'), NAME], dir);
  return { python, dir, env: {} };
}

/** The same beside real frameworks: only the SDK is new. */
export function installPythonBesideFrameworks(): InstalledPython {
  const dir = mkdtempSync(join(tmpdir(), 'ute-sdk-frameworks-'));
  const python = join(frameworks(), 'venv/bin/python');
  buildWheels(python, dir);
  const built = [
    '--no-index',
    '--no-deps',
    '--find-links',
    join(dir, 'wheels'),
    '--target',
    join(dir, 'site'),
  ];
  run(python, ['-m', 'pip', 'install', '--quiet', ...built, NAME, 'unified-tools'], dir);
  return { python, dir, env: { PYTHONPATH: join(dir, 'site') } };
}

function buildWheels(python: string, dir: string): void {
  for (const source of ['python', 'sdk/python']) {
    // What a build leaves in its folder is left in a copy.
    const copy = join(dir, source.replaceAll('/', '-'));
    cpSync(join(ROOT, source), copy, { recursive: true });
    const build = ['-m', 'pip', 'wheel', '--quiet', '--no-build-isolation', '--no-deps', '--no-index'];
    run(python, [...build, '--wheel-dir', join(dir, 'wheels'), '.'], copy);
  }
}
