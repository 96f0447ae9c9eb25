// Whether JSON values are the same, by a text that is equal for equal ones: takes as long as the values are large, however many there are.
import { spend } from './work-budget.ts';

type Scalar = string | number | boolean | null;

export function isScalar(value: unknown): value is Scalar {
  return typeof value !== 'object' || value === null;
}

/** Keys in one order, whatever the members are called. Spends what it costs. */
export function sameText(value: unknown): string {
  if (typeof value === 'string') {
    spend(1 + value.length);
    return JSON.stringify(value);
  }
  spend(4);
  // Minus zero is written as zero, which it is.
  if (isScalar(value)) return String(value);
  if (Array.isArray(value)) return `[${value.map(sameText).join(',')}]`;
  const members = value as { readonly [key: string]: unknown };
  const keys = Object.keys(members).toSorted();
  return `{${keys.map((key) => `${sameText(key)}:${sameText(members[key])}`).join(',')}}`;
}

/** Whether a value is one of these. Those of another kind are told apart without being read. */
export function membershipOf(values: readonly unknown[]): (value: unknown) => boolean {
  const scalars = new Set(values.filter(isScalar));
  const structures = values.filter((value) => !isScalar(value)) as object[];
  const sizes = new Set(structures.map(sizeOf));
  let texts: ReadonlySet<string> | undefined;
  return (value) => {
    if (isScalar(value)) return scalars.has(value);
    if (!sizes.has(sizeOf(value as object))) return false;
    texts ??= new Set(structures.map(sameText));
    return texts.has(sameText(value));
  };
}

function sizeOf(value: object): number {
  return Array.isArray(value) ? value.length : -1 - Object.keys(value).length;
}

/** The first item that was there before, and where; undefined where all differ. */
export function repeatedItem(
  items: readonly unknown[],
): { readonly i: number; readonly j: number } | undefined {
  const scalars = new Map<unknown, number>();
  const structures = new Map<string, number>();
  for (const [i, item] of items.entries()) {
    spend(1);
    const isPlain = isScalar(item);
    const text = isPlain ? '' : sameText(item);
    const j = isPlain ? scalars.get(item) : structures.get(text);
    if (j !== undefined) return { i, j };
    if (isPlain) scalars.set(item, i);
    else structures.set(text, i);
  }
  return undefined;
}
