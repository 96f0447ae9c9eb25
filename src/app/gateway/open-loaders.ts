// The loaders that gateway.yaml names, their options checked. One for the server and for `ute validate`.
import type { Loader } from '../../contract/plugin.ts';
import type { NamedLoader } from '../../registry/reload/tool-source.ts';
import type { Ports } from '../../ports/ports.ts';
import { LOADERS, type AnyLoaderPlugin } from '../../loaders/index.ts';
import type { Settings } from '../../settings/settings-schema.ts';
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

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Throws SettingsError; those from before stay the ones that are known then. */
  of(settings: Settings): readonly NamedLoader[] {
    const free = [...this.#opened];
    this.#opened = chosenLoaders(settings).map(({ plugin, options, said }) => {
      const at = free.findIndex((each) => each.said === said);
      const [known] = at < 0 ? [] : free.splice(at, 1);
      return known ?? { type: plugin.name, loader: plugin.create(this.#needs)(options), said };
    });
    return this.#opened;
  }

  /** The one whose tools the gateway itself changes. Undefined: gateway.yaml names none. */
  editable(): Loader | undefined {
    return this.#opened.find(({ loader }) => loader.draft !== undefined)?.loader;
  }
}
