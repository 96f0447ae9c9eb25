// WorkerKinds: which workers run a tool, by its options and by where its module lies.
import { hasModule } from '../../../lib/files/python-places.ts';
import { ModuleGroups } from './module-groups.ts';
import { ModuleListings } from './module-listings.ts';
import type { PythonOptions } from '../options.ts';
import type { PythonSettings } from '../settings.ts';
import type { WorkerKind } from './worker-kind.ts';

/** The entry of executors.python.interpreters that runs what callers write: with the packages that they may use. */
const FOR_CODE = 'code';

export class WorkerKinds {
  readonly #settings: PythonSettings;
  readonly #groups = new ModuleGroups();
  readonly #listings = new ModuleListings();

  constructor(settings: PythonSettings) {
    this.#settings = settings;
  }

  /** A module of the operator's folders, where all tools share workers, or one beside the tool's own file. */
  async ofModule(options: PythonOptions, module: string, folder: string): Promise<WorkerKind> {
    const { modulePaths, modules } = this.#settings;
    const kind: WorkerKind = {
      ...this.#common(options),
      folders: [...new Set([...modulePaths, folder])],
      mode: options.pure === true ? 'reuse' : 'fork',
      needsSandbox: false,
      runsCode: false,
    };
    if (modules.length > 0 || modulePaths.includes(folder)) return this.#listed(module, kind);
    for (const path of modulePaths) {
      if (await hasModule(path, module)) return this.#listed(module, { ...kind, folders: modulePaths });
    }
    return { ...kind, beside: { folder, modules: await this.#groups.groupOf(module, kind) } };
  }

  /** What callers write reaches nothing unless the tool says so. */
  ofCode(options: PythonOptions): WorkerKind {
    const own = Object.hasOwn(this.#settings.interpreters, FOR_CODE) ? FOR_CODE : undefined;
    const { interpreter } = this.#common({ ...options, interpreter: options.interpreter ?? own });
    const { network = 'none' } = options;
    return { interpreter, network, folders: [], mode: 'fork', needsSandbox: true, runsCode: true };
  }

  async #listed(module: string, kind: WorkerKind): Promise<WorkerKind> {
    return { ...kind, listing: await this.#listings.numberOf(module, kind) };
  }

  /** Throws a sentence for the operator. */
  #common({ interpreter, network = this.#settings.network }: PythonOptions) {
    if (interpreter === undefined) return { interpreter: this.#settings.interpreter, network };
    const { interpreters } = this.#settings;
    const program = Object.hasOwn(interpreters, interpreter) ? interpreters[interpreter] : undefined;
    if (program !== undefined) return { interpreter: program, network };
    const known = Object.keys(interpreters).join(', ') || 'none';
    throw new Error(
      `the interpreter ${interpreter} is not one of executors.python.interpreters (known: ${known}).`,
    );
  }
}
