// What a program needs beside its own file to run: the package it lies in, its virtual environment, and its interpreter.
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { isExecutable } from './is-executable.ts';

const SYSTEM = /^\/(?:usr|bin|sbin|lib|lib64)\//;
const MOST_STEPS = 4;
const FIRST_LINE_BYTES = 512;

export interface ProgramNeeds {
  /** Absolute files and folders to be shown, none of them of the system. */
  readonly places: readonly string[];
  /** Folders in which its interpreter is looked for by name. */
  readonly folders: readonly string[];
}

/** `path` is absolute, and a program; `searchPath` is where interpreters that are named alone are found. */
export function programNeeds(path: string, searchPath: string): ProgramNeeds {
  const places = new Set<string>();
  const folders = new Set<string>();
  let program: string | undefined = path;
  for (let step = 0; program !== undefined && step < MOST_STEPS; step += 1) {
    const real = realpathSync(program);
    for (const place of [program, real]) places.add(place);
    for (const place of packagePlaces(program, real)) places.add(place);
    const [interpreter, isNamed] = interpreterOf(real, searchPath);
    if (isNamed && interpreter !== undefined) folders.add(dirname(interpreter));
    program = interpreter;
  }
  return {
    places: withoutCovered([...places].filter((place) => !SYSTEM.test(place))),
    folders: [...folders],
  };
}

/** A path in a folder that is shown anyway is not shown once more: as a link it would be shown in the place it leads to. */
export function withoutCovered(paths: readonly string[]): readonly string[] {
  const each = [...new Set(paths)];
  return each.filter((path) => !each.some((folder) => folder !== path && path.startsWith(`${folder}/`)));
}

/** A shim of pyenv stands for another program, by what its settings say now. Anything else is itself. */
export function behindShim(path: string, env: { readonly [name: string]: string | undefined }): string {
  const root = dirname(dirname(path));
  if (basename(dirname(path)) !== 'shims' || !existsSync(join(root, 'versions'))) return path;
  const version = env['PYENV_VERSION'] ?? firstLine(join(root, 'version'));
  const [first = ''] = (version ?? '').split(/[:\s]/);
  const program = join(root, 'versions', first, 'bin', basename(path));
  return first !== '' && isExecutable(program) ? program : path;
}

function packagePlaces(path: string, real: string): readonly string[] {
  const found: string[] = [];
  // What a package of npm depends on lies beside it, or further up: the outermost folder has all of it.
  const modules = /^(.*?\/node_modules)\//.exec(real)?.[1];
  if (modules !== undefined) found.push(modules);
  const venv = dirname(dirname(path));
  if (existsSync(join(venv, 'pyvenv.cfg'))) found.push(venv);
  const prefix = dirname(dirname(real));
  if (isPythonPrefix(real, prefix)) found.push(prefix);
  return found;
}

/** The installation that an interpreter reads its library from, and no folder that merely has a `bin`. */
function isPythonPrefix(real: string, prefix: string): boolean {
  if (!/^(?:python|pypy)[\d.]*$/.test(basename(real)) || basename(dirname(real)) !== 'bin') return false;
  try {
    return readdirSync(join(prefix, 'lib')).some((name) => /^(?:python|pypy)\d/.test(name));
  } catch {
    return false;
  }
}

/** By the first line of a script; and whether it is only named there, as behind `env`. */
function interpreterOf(script: string, searchPath: string): readonly [string | undefined, boolean] {
  const [, words = ''] = /^#!\s*(.+)/.exec(firstBytes(script)) ?? [];
  const [program = '', ...rest] = words.trim().split(/\s+/);
  if (program === '') return [undefined, false];
  if (basename(program) !== 'env') return [isExecutable(program) ? program : undefined, false];
  const name = rest.find((word) => !word.startsWith('-') && !word.includes('='));
  if (name === undefined) return [undefined, false];
  const found = searchPath
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isExecutable);
  return [found === undefined ? undefined : behindShim(found, process.env), true];
}

/** The first line, as far as it is short. `path` is a file, and no pipe. */
export function firstBytes(path: string): string {
  const bytes = Buffer.alloc(FIRST_LINE_BYTES);
  try {
    const fd = openSync(path, 'r');
    try {
      return bytes.toString('utf8', 0, readSync(fd, bytes)).split('\n', 1)[0] ?? '';
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

function firstLine(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').split('\n', 1)[0]?.trim();
  } catch {
    return undefined;
  }
}
