// The loaders that gateway.yaml names, their options checked. One for the server and for `ute validate`.
import type { EntryProblem, Loader } from '../../contract/plugin.ts';
import type { NamedLoader } from '../../registry/reload/tool-source.ts';
import type { Ports } from '../../ports/ports.ts';
import { LOADERS, type AnyLoaderPlugin } from '../../loaders/index.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { problemAt, readSource } from '../../settings/settings-source.ts';
import { checkLoaders } from './check-sections.ts';

export interface ChosenLoader {
  readonly plugin: AnyLoaderPlugin;
  readonly options: unknown;
  /** The entry as it stands. */
  readonly said: string;
}

/** Throws SettingsError. */
export function chosenLoaders(settings: Settings): readonly ChosenLoader[] {
  checkLoaders(settings);
  return settings.loaders.flatMap((entry) => {
    const { type, ...said } = entry;
    const plugin = LOADERS.find(({ name }) => name === type);
    return plugin === undefined
      ? []
      : [{ plugin, options: plugin.optionsSchema.parse(said), said: JSON.stringify(entry) }];
  });
}

type Needs = Ports & { readonly configDir: string; readonly dataDir: string };

/** Loaders by their entries: an entry that is as it was keeps its loader, with all that it knows. */
export class OpenedLoaders {
  readonly #needs: Needs;
  #opened: readonly (NamedLoader & { readonly said: string })[] = [];
  #configFile = '';

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Throws SettingsError; those from before stay the ones that are known then. */
  of(settings: Settings): readonly NamedLoader[] {
    const free = [...this.#opened];
    const chosen = chosenLoaders(settings);
    this.#configFile = settings.configFile;
    this.#opened = chosen.map(({ plugin, options, said }) => {
      const at = free.findIndex((each) => each.said === said);
      const [known] = at < 0 ? [] : free.splice(at, 1);
      if (known !== undefined) return known;
      const needs = { ...this.#needs, entryProblem: this.#problemIn(said) };
      return { type: plugin.name, loader: plugin.create(needs)(options), said };
    });
    return this.#opened;
  }

  /** The one whose tools the gateway itself changes. Undefined: gateway.yaml names none. */
  editable(): Loader | undefined {
    return this.#opened.find(({ loader }) => loader.draft !== undefined)?.loader;
  }

  /**
   * Looked up in the file when there is one: an entry keeps its loader also where it has moved meanwhile, and a validation
   * leaves others out.
   */
  #problemIn(said: string): EntryProblem {
    return (path, message) => {
      const source = readSource(this.#configFile, false);
      const entries = source.values['loaders'];
      const index = Array.isArray(entries) ? entries.findIndex((each) => JSON.stringify(each) === said) : -1;
      const at = ['loaders', ...(index < 0 ? [] : [`${index}`]), ...path];
      return problemAt({ path: at, message }, source, process.env);
    };
  }
}
