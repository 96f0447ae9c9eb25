// Keys that were meant for the map above them and stand beside it: one mistake of indentation, told once.

export interface FallenOut {
  /** Where it shows. */
  readonly key: string;
  /** What needs no message of its own: the map that got nothing, and the keys beside it. */
  readonly explains: readonly string[];
  readonly message: string;
}

/** In a map whose keys should be `known`, in the order that they are written in: a key without a value, and the unknown ones after it. */
export function fallenOut(
  value: { readonly [key: string]: unknown },
  known: ReadonlySet<string>,
): readonly FallenOut[] {
  const keys = Object.keys(value);
  return keys.flatMap((field, index) => {
    if (!known.has(field) || value[field] !== null) return [];
    const rest = keys.slice(index + 1);
    const end = rest.findIndex((key) => known.has(key));
    const [key, ...more] = end < 0 ? rest : rest.slice(0, end);
    return key === undefined
      ? []
      : [{ key, explains: [field, key, ...more], message: sentence(field, key, more) }];
  });
}

function sentence(field: string, key: string, more: readonly string[]): string {
  const rest = more.length === 0 ? '' : `, and so must ${more.map((each) => `"${each}"`).join(', ')}`;
  return `wrong indentation: "${field}" holds nothing; if "${key}" belongs to it, it must be deeper${rest}`;
}
