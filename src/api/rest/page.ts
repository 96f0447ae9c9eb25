// Paging of lists: size and an opaque token (AIP-158). The token is the last name of the page before.
import { invalid } from './read-call.ts';

const DEFAULT_SIZE = 100;
const MAX_SIZE = 1000;

export function pageSize(text: string | undefined): number {
  if (text === undefined) return DEFAULT_SIZE;
  const size = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (size < 1) throw invalid('/page_size', `must be a number from 1 to ${MAX_SIZE}`);
  return Math.min(size, MAX_SIZE);
}

/** One page of items sorted by name, and the token of the next one. */
export function pageOf<T extends { readonly name: string }>(
  items: readonly T[],
  size: number,
  token: string | undefined,
): { page: readonly T[]; nextToken: string } {
  const after = token === undefined ? '' : decode(token);
  const start = after === '' ? 0 : items.findIndex(({ name }) => name > after);
  const page = start === -1 ? [] : items.slice(start, start + size);
  const last = page.at(-1);
  const more = last !== undefined && start + page.length < items.length;
  return { page, nextToken: more ? Buffer.from(last.name).toString('base64url') : '' };
}

function decode(token: string): string {
  if (!/^[A-Za-z0-9_-]{1,400}$/.test(token))
    throw invalid('/page_token', 'must be a next_page_token of this list');
  return Buffer.from(token, 'base64url').toString();
}
