// Settings under the names that TypeScript gives them: snake_case in YAML and JSON, camelCase here.

export type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;
export type CamelKeys<Of> = {
  readonly [Name in keyof Of as CamelCase<Name & string>]: Of[Name] extends (infer Item)[]
    ? readonly Item[]
    : Of[Name];
};

export function camelCase(name: string): string {
  return name.replaceAll(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase());
}

/** The names of the object itself: what its values hold stays as it is. */
export function camelKeys<Of extends object>(object: Of): CamelKeys<Of> {
  const entries = Object.entries(object).map(([name, value]) => [camelCase(name), value] as const);
  return Object.fromEntries(entries) as CamelKeys<Of>;
}
