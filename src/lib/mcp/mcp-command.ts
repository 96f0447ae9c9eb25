// The program of an MCP server: found once, at load, and never a package that may be another one tomorrow.
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { behindClosedFolder } from '../files/closed-folder.ts';
import { isExecutable } from '../files/is-executable.ts';
import { behindShim, programNeeds } from '../files/program-needs.ts';

export interface McpProgram {
  /** Absolute. */
  readonly path: string;
  /** What the sandbox must show besides the system's own folders for the program to run. */
  readonly outside: readonly string[];
  /** Where its interpreter is, if that is looked for by name. */
  readonly folders: readonly string[];
}

/** Throws Error with a sentence for the operator. */
export function findMcpProgram(command: string, baseDir: string, searchPath: string): McpProgram {
  const possible = placesOf(command, baseDir, searchPath);
  const found = possible.find(isExecutable);
  if (found === undefined) {
    const closed = possible.map(behindClosedFolder).find((sentence) => sentence !== undefined);
    if (closed !== undefined) throw new Error(`command: ${closed}`);
    const where = command.includes('/') ? '' : ' on PATH';
    throw new Error(`command: there is no program ${JSON.stringify(command)}${where}.`);
  }
  const path = behindShim(found, process.env);
  const { places, folders } = programNeeds(path, searchPath);
  return { path, outside: places, folders };
}

function placesOf(command: string, baseDir: string, searchPath: string): readonly string[] {
  if (isAbsolute(command)) return [resolve(command)];
  if (command.includes('/')) return [resolve(baseDir, command)];
  return searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, command));
}

/** Programs that fetch a package and run it, with the options whose value is a package. */
const RUNNERS: { readonly [name: string]: readonly string[] } = {
  npx: ['-p', '--package'],
  bunx: ['-p', '--package'],
  pnpx: ['--package'],
  uvx: ['--from', '--with'],
};

/** Options of those programs that take the next argument with them. */
const WITH_VALUE = /^(?:-c|--call|--cache|--registry|--userconfig|--python|-p)$/;

/** What is wrong with a command that runs a package by its name alone, or undefined. */
export function unpinnedPackage(command: string, args: readonly string[]): string | undefined {
  const runner = basename(command);
  const packageOptions = RUNNERS[runner];
  if (packageOptions === undefined) return undefined;
  const open = packagesOf(args, packageOptions).find((name) => !isPinned(name));
  return open === undefined
    ? undefined
    : `${runner} would run whatever ${JSON.stringify(open)} is today: give its exact version, such as ${example(runner, open)}.`;
}

function packagesOf(args: readonly string[], packageOptions: readonly string[]): readonly string[] {
  const named: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    const [option = '', value] = arg.split('=', 2);
    if (packageOptions.includes(option)) named.push(value ?? args[(at += 1)] ?? '');
    else if (WITH_VALUE.test(arg)) at += 1;
    else if (!arg.startsWith('-')) return named.length > 0 ? named : [arg];
  }
  return named;
}

/** A version in full, or something on this machine. */
function isPinned(name: string): boolean {
  return /^[./]/.test(name) || /.(?:@|==)\d+(?:\.\d+){1,3}[A-Za-z0-9.+-]*$/.test(name);
}

function example(runner: string, name: string): string {
  const bare = name.replace(/(?<=.)(?:@|[=<>~]).*$/, '');
  return `${bare}${runner === 'uvx' ? '==' : '@'}1.2.3`;
}
