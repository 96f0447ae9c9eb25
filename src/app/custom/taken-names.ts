// Names of an operator's own plugins: each is one that nobody else has, or a tool would get the wrong one in silence.

export interface CustomPlugin {
  readonly path: string;
  readonly plugin: { readonly name: string };
}

/** Throws Error with the path of the plugin whose name is taken, and by whom. `aliases`: other names of built-in ones. */
export function refuseTakenNames(
  kind: 'extension' | 'executor',
  custom: readonly CustomPlugin[],
  builtIn: readonly { readonly name: string }[],
  aliases: readonly string[] = [],
): void {
  const taken = new Map(builtIn.map(({ name }) => [name, `an ${kind} of the gateway`]));
  for (const alias of aliases) taken.set(alias, `another name of an ${kind} of the gateway`);
  for (const { path, plugin } of custom) {
    const holder = taken.get(plugin.name);
    if (holder !== undefined)
      throw new Error(`custom ${kind} ${path}: the name "${plugin.name}" is taken already: it is ${holder}`);
    taken.set(plugin.name, `the custom ${kind} ${path}`);
  }
}
