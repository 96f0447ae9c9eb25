// WorkerKind: everything that makes one pool's workers different from another's.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Confinement } from '../../ports/process-spawner.ts';
import type { PythonSettings } from './settings.ts';

export interface WorkerKind {
  /** The program: a name on the workers' PATH, or a path. */
  readonly interpreter: string;
  readonly folders: readonly string[];
  /** A process for each call, or the worker's own for all. */
  readonly mode: 'fork' | 'reuse';
  readonly network: 'none' | 'host';
  /** Without the sandbox there are no such workers, whatever the settings prefer. */
  readonly needsSandbox: boolean;
  /** They run what callers wrote: each runs that of one user, for all its life. */
  readonly runsCode: boolean;
}

/** Besides the calls' own: the worker, and room for a fork while calls use up what they have. */
const SPARE_PROCESSES = 2;
const SPARE_MEMORY_CALLS = 1;

/** What workers of this kind see and may use inside the sandbox. */
export function confinementOf(
  kind: WorkerKind,
  settings: PythonSettings,
  packageFolder: string,
): Confinement {
  const calls = settings.callsPerWorker;
  const readable = [
    packageFolder,
    ...interpreterFolders(kind.interpreter, settings.path),
    ...modulePlaces(kind.folders, settings.modules),
    ...settings.readable,
  ];
  return {
    readable: [...new Set(readable)].filter(existsSync),
    ...(settings.writable.length > 0 && { writable: settings.writable }),
    network: kind.network,
    memoryBytes: settings.memoryBytes * (calls + SPARE_MEMORY_CALLS),
    maxProcesses: settings.maxProcesses + calls + SPARE_PROCESSES,
  };
}

/** With an allow-list, the files of the listed modules and nothing else of their folders. */
function modulePlaces(folders: readonly string[], modules: readonly string[]): readonly string[] {
  if (modules.length === 0) return folders;
  const tops = new Set(modules.map((name) => name.split('.')[0] ?? name));
  return folders.flatMap((folder) =>
    [...tops].flatMap((top) => [join(folder, `${top}.py`), join(folder, top)]),
  );
}

/** A virtual environment, and an installation outside the system's own folders. */
function interpreterFolders(interpreter: string, path: string): readonly string[] {
  const program = isAbsolute(interpreter)
    ? interpreter
    : path
        .split(':')
        .map((folder) => join(folder, interpreter))
        .find((place) => existsSync(place));
  if (program === undefined || !existsSync(program)) return [];
  return [program, realpathSync(program)]
    .map((file) => dirname(dirname(file)))
    .filter((folder) => folder !== '/' && !`${folder}/`.startsWith('/usr/'));
}
