// The sections of the settings that are right by themselves, where others are not: what is wrong between them is told with the rest.
import { settingsSchema, type SettingsFile } from '../settings-schema.ts';

export interface RightSections {
  /** With the defaults in place of what is wrong. */
  readonly settings: SettingsFile;
  readonly wrong: ReadonlySet<string>;
}

export function rightSections(values: Readonly<Record<string, unknown>>): RightSections {
  const wrong = new Set<string>();
  const settings = Object.entries(settingsSchema.shape).map(([name, schema]) => {
    const read = schema.safeParse(values[name]);
    if (!read.success) wrong.add(name);
    return [name, read.success ? read.data : schema.parse(undefined)] as const;
  });
  return { settings: Object.fromEntries(settings) as SettingsFile, wrong };
}
