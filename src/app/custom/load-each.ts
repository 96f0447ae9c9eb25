// An operator's own modules, each loaded by itself, so that all that is wrong with them is told at once.

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

/** `load` throws Error with what is wrong. */
export async function loadEach<Entry extends { readonly path: string }, Module>(
  entries: readonly Entry[],
  load: (entry: Entry) => Promise<Module>,
): Promise<LoadedModules<Entry, Module>> {
  const loads = await Promise.allSettled(entries.map((entry) => load(entry)));
  const modules: Loaded<Entry, Module>[] = [];
  const problems: ModuleProblem[] = [];
  for (const [index, entry] of entries.entries()) {
    const done = loads[index];
    if (done?.status === 'fulfilled') modules.push({ entry, index, module: done.value });
    else problems.push({ index, message: messageOf(done?.reason, entry.path) });
  }
  return { modules, problems };
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
