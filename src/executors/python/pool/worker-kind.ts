// WorkerKind: everything that makes one pool's workers different from another's.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { allPlacesOf, placesOf } from '../../../lib/files/python-places.ts';
import type { Confinement } from '../../../ports/egress/process-spawner.ts';
import type { PythonSettings } from '../settings.ts';

export interface WorkerKind {
  /** The program: a name on the workers' PATH, or a path. */
  readonly interpreter: string;
  /** Where modules are looked for, in this order. */
  readonly folders: readonly string[];
  /** Modules beside the file that declares the tools: of that folder, only these and what they import are shown. */
  readonly beside?: { readonly folder: string; readonly modules: readonly string[] };
  /** Which list of the operator's folders they saw when they started, where modules have been added since the first. */
  readonly listing?: number;
  /** A process for each call, or the worker's own for all. */
  readonly mode: 'fork' | 'reuse';
  readonly network: 'none' | 'host';
  /** Without the sandbox there are no such workers, whatever the settings prefer. */
  readonly needsSandbox: boolean;
  /** They run what callers wrote: each runs that of one user, for all its life. */
  readonly runsCode: boolean;
}

/** Besides the calls' own: the worker, and room for a fork while calls use up what they have. */
export const SPARE_PROCESSES = 2;
const SPARE_MEMORY_CALLS = 1;

/** The files and packages that workers of this kind import from: inside the sandbox, all that they see of their folders. */
export async function modulePlaces(kind: WorkerKind, settings: PythonSettings): Promise<readonly string[]> {
  const { folders, beside } = kind;
  const found = folders.map((folder) => {
    if (settings.modules.length > 0) return placesOf(folder, settings.modules, 'these alone');
    if (folder === beside?.folder) return placesOf(folder, beside.modules);
    return allPlacesOf(folder);
  });
  return (await Promise.all(found)).flat();
}

/** What workers of this kind see and may use inside the sandbox. */
export function confinementOf(
  kind: WorkerKind,
  settings: PythonSettings,
  places: readonly string[],
  packageFolder: string,
): Confinement {
  const calls = settings.callsPerWorker;
  const readable = [
    packageFolder,
    ...interpreterFolders(kind.interpreter, settings.path),
    ...places,
    ...settings.readable,
  ];
  return {
    readable: [...new Set(readable)].filter((path) => existsSync(path)),
    ...(settings.writable.length > 0 && { writable: settings.writable }),
    network: kind.network,
    memoryBytes: settings.memoryBytes * (calls + SPARE_MEMORY_CALLS),
    maxProcesses: settings.maxProcesses + calls + SPARE_PROCESSES,
  };
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
