// How an expression's faults name kinds, functions and fields.
import { didYouMean } from '../text/did-you-mean.ts';
import type { CelKind } from './cel-type.ts';
import { FUNCTIONS, METHODS } from './signatures.ts';

export function near(name: string, known: readonly string[]): string {
  const found = didYouMean(name, known);
  if (found !== undefined) return `; did you mean "${found}"?`;
  return known.length === 0 ? '' : `; there are: ${known.slice(0, 20).join(', ')}`;
}

export function unknownFunction(name: string): string {
  if (name === 'has') return 'has() takes a field, as in has(args.note)';
  const known = [...FUNCTIONS.keys(), ...METHODS.keys(), 'has', 'all', 'exists', 'exists_one'];
  return `there is no function ${shown(name)} for policies${near(name, [...new Set(known)])}`;
}

export function shown(name: string): string {
  return /^\w+$/.test(name) ? `${name}()` : `"${name.replaceAll('_', ' ').replace('@', '').trim()}"`;
}

const NAMES: Readonly<Record<CelKind, string>> = {
  int: 'an integer',
  double: 'a number',
  string: 'a text',
  bool: 'a boolean',
  null: 'null',
  list: 'a list',
  map: 'an object',
  dyn: 'anything',
};

export function nameOf(kind: CelKind): string {
  return NAMES[kind];
}
