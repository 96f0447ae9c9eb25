// All executors and extensions of these settings: those that are built in, and an operator's own.
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { EXECUTORS, type AnyExecutorPlugin } from '../../executors/index.ts';
import { SettingsError } from '../../settings/problems/settings-error.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { problemAt, readSource } from '../../settings/settings-source.ts';
import { loadCustomExecutors } from '../custom/custom-executors.ts';
import { loadCustomExtensions, type CustomExtension } from '../custom/custom-extensions.ts';
import type { ModuleProblem } from '../custom/load-each.ts';
import { sectionFaults } from './check-sections.ts';
import { extensionsWith } from './pipeline.ts';

/** With an operator's own, and with what gateway.yaml tells each checked. Throws SettingsError. */
export async function knownPlugins(settings: Settings): Promise<{
  readonly custom: readonly CustomExtension[];
  readonly plugins: readonly AnyExecutorPlugin[];
}> {
  const [extensions, executors] = await Promise.all([
    loadCustomExtensions(settings.custom_extensions),
    loadCustomExecutors(settings.custom_executors),
  ]);
  const { custom } = extensions;
  const plugins = [...EXECUTORS, ...executors.plugins];
  const own = [
    ...ofModules('custom_extensions', extensions.problems, settings),
    ...ofModules('custom_executors', executors.problems, settings),
  ];
  const sections = { executors: plugins, extensions: extensionsWith(custom), hasOwn: own.length > 0 };
  const problems = [...own, ...sectionFaults(settings, sections)];
  if (problems.length > 0) throw new SettingsError(problems);
  return { custom, plugins };
}

function ofModules(
  list: 'custom_extensions' | 'custom_executors',
  problems: readonly ModuleProblem[],
  { configFile }: Settings,
): readonly Problem[] {
  if (problems.length === 0) return [];
  const source = readSource(configFile, false);
  return problems.map(({ index, message }) =>
    problemAt({ path: [list, `${index}`, 'path'], message }, source, process.env),
  );
}
