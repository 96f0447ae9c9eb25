// Which files of a folder a Python module needs: itself, and what stands beside it and is imported by name. Nothing else is shown.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_FILES = 2_000;
const MAX_FILE_BYTES = 1 << 20;
/** `import a.b, c as d` and `from a.b import c`: the first names. Relative imports stay inside their package. */
const IMPORT = /^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import\b|import[ \t]+([A-Za-z_][\w., \t]*))/gm;
const IDENTIFIER = /^[A-Za-z_]\w*$/;

/** The files and packages of these modules in the folder, with what they import from there in turn. */
export async function placesOf(
  folder: string,
  modules: readonly string[],
  extent: 'with what they import' | 'these alone' = 'with what they import',
): Promise<readonly string[]> {
  const there = await modulesIn(folder);
  const waiting = modules.map(topOf);
  const needed = new Set<string>();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const places = there.get(name);
    if (places === undefined || needed.has(name)) continue;
    needed.add(name);
    if (extent === 'these alone') continue;
    for (const place of places) waiting.push(...(await importedBy(place)));
  }
  return [...needed].flatMap((name) => there.get(name) ?? []);
}

/** Every module and package that lies directly in the folder. */
export async function allPlacesOf(folder: string): Promise<readonly string[]> {
  return [...(await modulesIn(folder)).values()].flat();
}

/** The names of the modules and packages that lie directly in the folder. */
export async function modulesOf(folder: string): Promise<readonly string[]> {
  return [...(await modulesIn(folder)).keys()];
}

/** Whether the folder has a module of this name. */
export async function hasModule(folder: string, module: string): Promise<boolean> {
  return (await modulesIn(folder)).has(topOf(module));
}

/** `package` of `package.module`. */
export function topOf(module: string): string {
  return module.split('.')[0] ?? module;
}

/** By name: a module of C may stand beside one of Python, and a package may have its name too. */
async function modulesIn(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  for (const name of await readdir(folder).catch(() => [])) {
    const place = join(folder, name);
    const [top = ''] = name.split('.');
    if (!IDENTIFIER.test(top)) continue;
    const isModule = /\.(?:py|pyc|so)$/.test(name) || (top === name && (await isPackage(place)));
    if (isModule) found.set(top, [...(found.get(top) ?? []), place]);
  }
  return found;
}

/** With an `__init__`, or, as Python allows, without: then it holds modules or packages. */
async function isPackage(place: string): Promise<boolean> {
  const names = await readdir(place).catch(() => []);
  if (names.some((name) => /\.(?:py|so)$/.test(name))) return true;
  for (const name of names.filter((each) => IDENTIFIER.test(each))) {
    if ((await stat(join(place, name, '__init__.py')).catch(() => undefined))?.isFile() === true) return true;
  }
  return false;
}

async function importedBy(place: string): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const file of await sourcesOf(place)) {
    const text = await readFile(file, 'utf8').catch(() => '');
    for (const [, from, list = ''] of text.matchAll(IMPORT)) {
      for (const name of from === undefined ? list.split(',') : [from]) names.add(topOf(name.trim()));
    }
  }
  return [...names].map((name) => name.split(/\s/)[0] ?? name);
}

async function sourcesOf(place: string): Promise<readonly string[]> {
  const files: string[] = [];
  const waiting = [place];
  for (let looks = 0; looks < MAX_FILES; looks += 1) {
    const next = waiting.pop();
    if (next === undefined) break;
    const about = await stat(next).catch(() => undefined);
    if (about?.isDirectory() === true) {
      const names = await readdir(next).catch(() => []);
      waiting.push(...names.filter(isCode).map((name) => join(next, name)));
    } else if (about?.isFile() === true && about.size <= MAX_FILE_BYTES && next.endsWith('.py')) {
      files.push(next);
    }
  }
  return files;
}

function isCode(name: string): boolean {
  return name.endsWith('.py') || (IDENTIFIER.test(name) && name !== '__pycache__');
}
