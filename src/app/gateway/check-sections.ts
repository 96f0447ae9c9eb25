// What gateway.yaml tells loaders, executors and extensions, checked by each of them: all that is wrong at once, with its place.
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { EXECUTORS, type AnyExecutorPlugin } from '../../executors/index.ts';
import { REQUEST_EXTENSIONS, TOOL_EXTENSIONS, type AnyExtensionPlugin } from '../../extensions/index.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import { LOADERS } from '../../loaders/index.ts';
import { orderOf, type OrderSettings } from './pipeline-order.ts';
import { extensionsWith } from './pipeline.ts';
import { rightSections } from '../../settings/problems/right-sections.ts';
import { sectionProblems } from '../../settings/problems/section-problems.ts';
import { SettingsError } from '../../settings/problems/settings-error.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { problemAt, readSource, type Source } from '../../settings/settings-source.ts';

export interface Sections {
  readonly executors: readonly AnyExecutorPlugin[];
  readonly extensions: readonly AnyExtensionPlugin[];
  /** There are more, which could not be loaded: a name that is not known may be one of theirs. */
  readonly hasOwn?: boolean;
}

/** What of them is wrong. */
export function sectionFaults(settings: Settings, sections: Sections): readonly Problem[] {
  return faultsOfSections(settings, sections, sourceOf(settings.configFile));
}

/** Throws SettingsError. */
export function checkLoaders({ loaders, configFile }: Settings): void {
  const problems = loaderProblems(loaders, sourceOf(configFile));
  if (problems.length > 0) throw new SettingsError(problems);
}

/**
 * The same error, with what the plugins that are built in refuse of the same file. An operator's own are not loaded for settings that
 * cannot be taken: a name may be one of theirs.
 */
export function withSectionFaults(error: SettingsError): SettingsError {
  const { problems, refused, auth } = error;
  if (refused === undefined) return error;
  const { values, source } = refused;
  const { settings } = rightSections(values);
  const hasOwn = values['custom_executors'] !== undefined || values['custom_extensions'] !== undefined;
  const sections = { executors: EXECUTORS, extensions: extensionsWith([]), hasOwn };
  const faults = faultsOfSections({ ...settings, configDir: dirname(source.file) }, sections, source);
  return new SettingsError([...problems, ...faults], refused, auth);
}

type Said = OrderSettings & Pick<Settings, 'configDir' | 'loaders' | 'executors'>;

function faultsOfSections(
  said: Said,
  { executors, extensions, hasOwn = false }: Sections,
  source: Source,
): readonly Problem[] {
  const schemasOf = {
    executors: new Map(executors.map((each) => [each.name, each.settingsSchema?.(said.configDir)])),
    extensions: new Map(extensions.map(({ name, optionsSchema }) => [name, optionsSchema])),
  };
  return [
    ...loaderProblems(said.loaders, source),
    ...(['executors', 'extensions'] as const).flatMap((section) =>
      namedProblems({ section, hasOwn }, said[section], schemasOf[section], source),
    ),
    ...orderProblems(said, extensions, hasOwn, source),
  ];
}

/** Which stage an operator's own extension is of is known once it is made: the pipeline itself tells what is wrong then. */
function orderProblems(
  said: Said,
  extensions: readonly AnyExtensionPlugin[],
  hasOwn: boolean,
  source: Source,
): readonly Problem[] {
  const request = REQUEST_EXTENSIONS.map((plugin) => ({ plugin }));
  const tool = TOOL_EXTENSIONS.map((plugin) => ({ plugin }));
  if (hasOwn || extensions.length > request.length + tool.length) return [];
  const { faults } = orderOf(said, { request, tool, custom: [] });
  return faults.map((fault) => problemAt(fault, source, process.env));
}

/** Read once more for the places of what is wrong: the settings themselves hold values alone. */
const sourceOf = (configFile: string) => readSource(configFile, false);

function loaderProblems(entries: Settings['loaders'], source: Source): readonly Problem[] {
  const known = LOADERS.map(({ name }) => name);
  return entries.flatMap(({ type, ...said }, index) => {
    const plugin = LOADERS.find(({ name }) => name === type);
    if (plugin !== undefined) return refused(plugin.optionsSchema, said, ['loaders', index], source);
    return [unknownName('loader', type, known, ['loaders', `${index}`, 'type'], source)];
  });
}

/** Executors and extensions stand under their names. */
function namedProblems(
  { section, hasOwn }: { readonly section: 'executors' | 'extensions'; readonly hasOwn: boolean },
  said: Readonly<Record<string, unknown>>,
  schemas: ReadonlyMap<string, z.core.$ZodType | undefined>,
  source: Source,
): readonly Problem[] {
  const kind = section === 'executors' ? 'executor' : 'extension';
  const unknown = hasOwn ? [] : Object.keys(said).filter((name) => !schemas.has(name));
  return [
    ...unknown.map((name) => unknownName(kind, name, [...schemas.keys()], [section, name], source)),
    ...[...schemas].flatMap(([name, schema]) =>
      schema === undefined ? [] : refused(schema, said[name] ?? {}, [section, name], source),
    ),
  ];
}

function refused(
  schema: z.core.$ZodType,
  value: unknown,
  base: readonly (string | number)[],
  source: Source,
): readonly Problem[] {
  const parsed = z.safeParse(schema, value);
  return parsed.success ? [] : sectionProblems(parsed.error, { schema, value, base }, source, process.env);
}

function unknownName(
  kind: string,
  name: string,
  known: readonly string[],
  path: readonly string[],
  source: Source,
): Problem {
  const near = didYouMean(name, known);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  const message = `there is no ${kind} "${name}" here; known: ${known.toSorted().join(', ')}${hint}`;
  return problemAt({ path, message }, source, process.env);
}
