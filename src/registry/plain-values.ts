// What no declaration may hold, whatever its schema: values that JSON cannot say, and references to secrets.
import type { Fault, Path } from '../lib/faults/faults.ts';

const MAX_DEPTH = 64;
const REFERENCE = /\$\{(?:env|file):/;

export function faultsOfPlainValues(value: unknown): readonly Fault[] {
  const faults: Fault[] = [];
  walk(value, [], faults);
  return faults;
}

function walk(value: unknown, path: (string | number)[], faults: Fault[]): void {
  if (typeof value === 'object' && value !== null) {
    if (path.length >= MAX_DEPTH) {
      faults.push({ path: path.slice(0, 2), message: `is nested deeper than ${MAX_DEPTH} levels` });
      return;
    }
    const isList = Array.isArray(value);
    for (const [key, item] of Object.entries(value)) {
      path.push(isList ? Number(key) : key);
      if (!isList) checkKey(key, path, faults);
      walk(item, path, faults);
      path.pop();
    }
  } else {
    const message = leafProblem(value);
    if (message !== undefined) faults.push({ path: [...path], message });
  }
}

function checkKey(key: string, path: Path, faults: Fault[]): void {
  const message = key === '__proto__' ? 'the key "__proto__" is not allowed' : leafProblem(key);
  if (message !== undefined) faults.push({ path: [...path], isKey: true, message });
}

function leafProblem(value: unknown): string | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : `expected a finite number, found ${value}`;
  if (typeof value !== 'string') return undefined;
  if (!value.isWellFormed()) return 'expected valid Unicode text, found half of a surrogate pair';
  return REFERENCE.test(value)
    ? 'references such as ${env:…} and ${file:…} are allowed in connections only'
    : undefined;
}
