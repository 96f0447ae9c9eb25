// What gateway.yaml tells loaders, executors and extensions, checked by each of them: all that is wrong at once, with its place.
import { z } from 'zod';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import type { AnyExecutorPlugin } from '../../executors/index.ts';
import type { AnyExtensionPlugin } from '../../extensions/index.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import { LOADERS } from '../../loaders/index.ts';
import { sectionProblems } from '../../settings/problems/section-problems.ts';
import { SettingsError } from '../../settings/problems/settings-error.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { positionOf, readSource, type Source } from '../../settings/settings-source.ts';

export interface Sections {
  readonly executors: readonly AnyExecutorPlugin[];
  readonly extensions: readonly AnyExtensionPlugin[];
}

/** Throws SettingsError. */
export function checkSections(settings: Settings, { executors, extensions }: Sections): void {
  const { configDir } = settings;
  const schemasOf = {
    executors: new Map(executors.map((each) => [each.name, each.settingsSchema?.(configDir)])),
    extensions: new Map(extensions.map(({ name, optionsSchema }) => [name, optionsSchema])),
  };
  refuse(settings, (source) => [
    ...loaderProblems(settings.loaders, source),
    ...(['executors', 'extensions'] as const).flatMap((section) =>
      namedProblems(section, settings[section], schemasOf[section], source),
    ),
  ]);
}

/** Throws SettingsError. */
export function checkLoaders(settings: Settings): void {
  refuse(settings, (source) => loaderProblems(settings.loaders, source));
}

/** Read once more for the places of what is wrong: the settings themselves hold values alone. */
function refuse({ configFile }: Settings, problemsIn: (source: Source) => readonly Problem[]): void {
  const problems = problemsIn(readSource(configFile, false));
  if (problems.length > 0) throw new SettingsError(problems);
}

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
  section: 'executors' | 'extensions',
  said: Readonly<Record<string, unknown>>,
  schemas: ReadonlyMap<string, z.core.$ZodType | undefined>,
  source: Source,
): readonly Problem[] {
  const kind = section === 'executors' ? 'executor' : 'extension';
  const unknown = Object.keys(said).filter((name) => !schemas.has(name));
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
  return { ...positionOf(path, source, process.env), path: path.join('.'), message };
}
