// The program of an MCP server: found once, at load.
import { delimiter, isAbsolute, join, resolve } from 'node:path';
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
