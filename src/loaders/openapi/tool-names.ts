// Names of tools: from operationId, or method and path; cleaned, and one for each operation.
import { hash } from 'node:crypto';
import type { Operation } from './document/list-operations.ts';

const LONGEST_NAME = 128;
const HASH_LENGTH = 8;

/** In the order of the operations. A name depends on the operation and on who else wants it, not on the order. */
export function toolNames(operations: readonly Operation[], prefix: string): readonly string[] {
  const wanted = operations.map((operation) => ({ operation, name: wantedName(operation, prefix) }));
  const claims = new Map<string, number>();
  for (const { name } of wanted) claims.set(name, (claims.get(name) ?? 0) + 1);
  return wanted.map(({ operation, name }) => (claims.get(name) === 1 ? name : told(name, operation)));
}

function wantedName({ id, method, path }: Operation, prefix: string): string {
  const fallback = cleaned(`${method.toLowerCase()}_${path}`);
  const name = (id === undefined ? '' : cleaned(id)) || fallback;
  return `${prefix}${name}`.slice(0, LONGEST_NAME);
}

/** What agents may call; never the look of a path. */
function cleaned(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9_.-]+|\.{2,}/g, '_')
    .replaceAll(/_{2,}/g, '_')
    .replace(/^[._-]+/, '')
    .replace(/[._-]+$/, '');
}

function told(name: string, { method, path }: Operation): string {
  const mark = hash('sha256', `${method} ${path}`).slice(0, HASH_LENGTH);
  return `${name.slice(0, LONGEST_NAME - HASH_LENGTH - 1)}_${mark}`;
}
