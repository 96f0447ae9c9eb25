// ModuleGroups: which modules of a tools file's folder share workers. Those named in one load do; each sees no others.
import type { WorkerKind } from './worker-kind.ts';

type Group = readonly string[];

export class ModuleGroups {
  readonly #formed = new Map<string, Group[]>();
  readonly #forming = new Map<string, { readonly modules: Set<string>; readonly formed: Promise<Group> }>();

  /** The modules that share workers with this one, itself among them. `kind` is all else that the workers have in common. */
  async groupOf(module: string, kind: WorkerKind): Promise<Group> {
    const key = JSON.stringify(kind);
    const known = this.#formed.get(key)?.find((group) => group.includes(module));
    if (known !== undefined) return known;
    const forming = this.#forming.get(key) ?? this.#form(key);
    forming.modules.add(module);
    return forming.formed;
  }

  /** A load names its tools at once: whoever asks in the same turn of the event loop belongs together. */
  #form(key: string) {
    const modules = new Set<string>();
    const formed = yieldToLoop().then((): Group => {
      const group = [...modules].toSorted();
      this.#forming.delete(key);
      this.#formed.set(key, [...(this.#formed.get(key) ?? []), group]);
      return group;
    });
    const forming = { modules, formed };
    this.#forming.set(key, forming);
    return forming;
  }
}

function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
