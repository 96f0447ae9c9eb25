// The loaders that gateway.yaml names, their options checked. One for the server and for `ute validate`.
import { LOADERS, type AnyLoaderPlugin } from '../../loaders/index.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface ChosenLoader {
  readonly plugin: AnyLoaderPlugin;
  readonly options: unknown;
}

/** Throws Error with what is wrong. */
export function chosenLoaders(entries: Settings['loaders']): readonly ChosenLoader[] {
  return entries.map(({ type, ...said }, index) => {
    const plugin = LOADERS.find(({ name }) => name === type);
    if (plugin === undefined) {
      const known = LOADERS.map(({ name }) => name).join(', ');
      throw new Error(`loaders.${index}.type: there is no loader "${type}" here; known: ${known}`);
    }
    const parsed = plugin.optionsSchema.safeParse(said);
    if (parsed.success) return { plugin, options: parsed.data };
    const issues = parsed.error.issues.map(
      ({ path, message }) => `${['loaders', index, ...path].join('.')}: ${message}`,
    );
    throw new Error(issues.join('\n'));
  });
}
