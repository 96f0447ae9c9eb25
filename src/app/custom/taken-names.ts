// Names of an operator's own plugins: each is one that nobody else has, or a tool would get the wrong one in silence.

import type { ModuleProblem } from './load-each.ts';

export interface NamedModule {
  /** In the list of gateway.yaml, from 0. */
  readonly index: number;
  readonly path: string;
  /** That its plugin gives itself. */
  readonly name: string;
}

/** By whom each name is taken that is taken. `aliases`: other names of built-in ones. */
export function takenNames(
  kind: 'extension' | 'executor',
  custom: readonly NamedModule[],
  builtIn: readonly { readonly name: string }[],
  aliases: readonly string[] = [],
): readonly ModuleProblem[] {
  const taken = new Map(builtIn.map(({ name }) => [name, `an ${kind} of the gateway`]));
  for (const alias of aliases) taken.set(alias, `another name of an ${kind} of the gateway`);
  return custom.flatMap(({ index, path, name }) => {
    const holder = taken.get(name);
    taken.set(name, holder ?? `the custom ${kind} ${path}`);
    if (holder === undefined) return [];
    return [
      { index, message: `custom ${kind} ${path}: the name "${name}" is taken already: it is ${holder}` },
    ];
  });
}
