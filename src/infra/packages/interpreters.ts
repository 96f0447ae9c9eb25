// Interpreters for installed packages: the first on PATH that programs in the sandbox can come to.
import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { isExecutable } from '../../lib/files/is-executable.ts';
import { behindShim, programNeeds } from '../../lib/files/program-needs.ts';
import { barrierAbove } from '../sandbox/reachable.ts';
import type { Owner } from '../sandbox/workspace/workspace-files.ts';

export interface Interpreter {
  /** Absolute. */
  readonly path: string;
  /** What it needs beside the system's own folders. */
  readonly places: readonly string[];
}

const SYSTEM = ['/usr/local/bin', '/usr/bin', '/bin'];

/** `first`: programs that are tried before those on PATH. Throws Error with a sentence for the operator. */
export function findInterpreter(
  name: string,
  user: Owner | undefined,
  first: readonly string[] = [],
): Interpreter {
  const search = process.env['PATH'] ?? '';
  const folders = [...search.split(delimiter).filter(isAbsolute), ...SYSTEM];
  const found = [...first, ...folders.map((folder) => join(folder, name))]
    .filter(isExecutable)
    .map((path) => behindShim(path, process.env));
  for (const path of new Set(found)) {
    const { places } = programNeeds(path, search);
    const isReached = [path, realpathSync(path), ...places].every(
      (place) => user === undefined || barrierAbove(place, user) === undefined,
    );
    if (isReached) return { path, places };
  }
  const [closed] = found;
  throw new Error(
    closed === undefined
      ? `there is no ${name} on PATH, which its packages need`
      : `${closed} lies where the sandbox's user cannot come: install ${name} for the whole system`,
  );
}
