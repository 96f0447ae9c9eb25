// What a tool's declaration is held to: the shelves of executors and extensions. One for the server and for `ute validate`.
import { EXECUTORS, type AnyExecutorPlugin } from './executors/index.ts';
import { TOOL_EXTENSIONS, type AnyExtensionPlugin } from './extensions/index.ts';
import type { SpecRules } from './registry/spec-validation.ts';

/** Request-stage extensions are not here: they run before the tool is known, so a tool cannot set their options. */
export function specRules(
  customToolExtensions: readonly AnyExtensionPlugin[] = [],
  customExecutors: readonly AnyExecutorPlugin[] = [],
): SpecRules {
  const extensions = [...TOOL_EXTENSIONS, ...customToolExtensions];
  return {
    executors: new Map([...EXECUTORS, ...customExecutors].map((plugin) => [plugin.name, plugin])),
    extensions: new Map(extensions.map((plugin) => [plugin.name, plugin])),
  };
}
