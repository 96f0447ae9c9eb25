// An operator's own modules, each loaded by itself, so that all that is wrong with them is told at once.
import { LateError } from '../../lib/timers/within.ts';

interface Loaded<Entry, Module> {
  readonly entry: Entry;
  /** In the list of gateway.yaml, from 0. */
  readonly index: number;
  readonly module: Module;
}

export interface ModuleProblem {
  /** In the list of gateway.yaml, from 0. */
  readonly index: number;
  /** Names the module. */
  readonly message: string;
}

interface LoadedModules<Entry, Module> {
  readonly modules: readonly Loaded<Entry, Module>[];
  readonly problems: readonly ModuleProblem[];
}

/** As a module may open what it needs while it is loaded. */
const LOAD_WITHIN_MS = 30_000;

/** `load` throws Error with what is wrong. One that does not end is a problem after `withinMs`. */
export async function loadEach<Entry extends { readonly path: string }, Module>(
  entries: readonly Entry[],
  load: (entry: Entry) => Promise<Module>,
  withinMs = LOAD_WITHIN_MS,
): Promise<LoadedModules<Entry, Module>> {
  const loads = await Promise.allSettled(entries.map((entry) => loadedWithin(withinMs, load(entry))));
  const modules: Loaded<Entry, Module>[] = [];
  const problems: ModuleProblem[] = [];
  for (const [index, entry] of entries.entries()) {
    const done = loads[index];
    if (done?.status === 'fulfilled') modules.push({ entry, index, module: done.value });
    else problems.push({ index, message: messageOf(done?.reason, entry.path) });
  }
  return { modules, problems };
}

/** The timer keeps the process alive: one that waits for nothing else would end, and with success. */
async function loadedWithin<Module>(ms: number, load: Promise<Module>): Promise<Module> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new LateError(ms)), ms);
  try {
    return await Promise.race([load, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function messageOf(reason: unknown, path: string): string {
  const said = reason instanceof Error ? thrownText(reason, () => reason.message) : thrownText(reason);
  return said.includes(path) ? said : `${path}: ${said}`;
}

/** A module may throw whatever it likes, and what cannot be read either. */
export function thrownText(thrown: unknown, read: () => string = () => String(thrown)): string {
  try {
    return read();
  } catch {
    return 'it threw what cannot be read';
  }
}
