// ModuleListings: which workers see a module of the operator's folders. Those that started before its file was there do not.
import { modulesOf, topOf } from '../../../lib/files/python-places.ts';
import type { WorkerKind } from './worker-kind.ts';

type Listing = ReadonlySet<string>;

export class ModuleListings {
  readonly #listings = new Map<string, Listing[]>();

  /** The number of the first list of the kind's folders that has the module: workers of a number see at least that list. */
  async numberOf(module: string, kind: WorkerKind): Promise<number> {
    const key = JSON.stringify(kind);
    const known = this.#find(key, module);
    if (known !== undefined) return known;
    const names = new Set((await Promise.all(kind.folders.map(modulesOf))).flat());
    // Another tool of the same load may have asked meanwhile.
    const meanwhile = this.#find(key, module);
    if (meanwhile !== undefined) return meanwhile;
    const listings = this.#listings.get(key) ?? [];
    // A module that is nowhere: any worker says so.
    if (!names.has(topOf(module))) return Math.max(0, listings.length - 1);
    this.#listings.set(key, [...listings, names]);
    return listings.length;
  }

  #find(key: string, module: string): number | undefined {
    const index = this.#listings.get(key)?.findIndex((listing) => listing.has(topOf(module))) ?? -1;
    return index === -1 ? undefined : index;
  }
}
