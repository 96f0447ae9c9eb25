// Canonical JSON (RFC 8785) and its hash: equal values have equal hashes, whatever their keys' order.
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** sha256 in hex. Throws Error for what canonical JSON cannot say: lone surrogates, NaN, Infinity, undefined. */
export function canonicalHash(value: unknown): string {
  const text = flatCanonical(value) ?? canonicalize(value);
  if (text === undefined) throw new Error(`must be a JSON value to be hashed, found ${typeof value}`);
  return hash('sha256', text);
}

/**
 * Most arguments are one object of strings, numbers and booleans. Sorted by code units and written by JSON.stringify that is
 * their canonical form, at a quarter of the library's cost, and mostly they are sorted. Undefined: not such a one.
 */
function flatCanonical(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || 'toJSON' in value)
    return undefined;
  const keys = Object.keys(value);
  for (const key of keys)
    if (!isScalar((value as Record<string, unknown>)[key]) || !key.isWellFormed()) return undefined;
  if (areSorted(keys)) return JSON.stringify(value);
  const members = keys
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${JSON.stringify((value as Record<string, unknown>)[key])}`);
  return `{${members.join(',')}}`;
}

/** By UTF-16 code units, as RFC 8785 wants it. */
function areSorted(keys: readonly string[]): boolean {
  for (let at = 1; at < keys.length; at += 1)
    if ((keys[at - 1] as string) > (keys[at] as string)) return false;
  return true;
}

/** What JSON.stringify and RFC 8785 write alike. */
function isScalar(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}
