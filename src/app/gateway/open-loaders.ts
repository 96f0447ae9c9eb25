// The loaders that gateway.yaml names, their options checked. One for the server and for `ute validate`.
import { LOADERS, type AnyLoaderPlugin } from '../../loaders/index.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { checkLoaders } from './check-sections.ts';

export interface ChosenLoader {
  readonly plugin: AnyLoaderPlugin;
  readonly options: unknown;
}

/** Throws SettingsError. */
export function chosenLoaders(settings: Settings): readonly ChosenLoader[] {
  checkLoaders(settings);
  return settings.loaders.flatMap(({ type, ...said }) => {
    const plugin = LOADERS.find(({ name }) => name === type);
    return plugin === undefined ? [] : [{ plugin, options: plugin.optionsSchema.parse(said) }];
  });
}
