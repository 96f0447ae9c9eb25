// Reads the query of a history list: filters, times and the opaque place where a page begins.
import type { HistoryPosition } from '../../ports/calls/call-history.ts';
import { invalid } from './read-call.ts';

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const MAX_LENGTH = 512;
const TOKEN = /^(\d{1,16})\.(.{1,200})$/;

export function textOf(query: Query, name: string): string | undefined {
  const said = query[name];
  if (said === undefined) return undefined;
  if (typeof said !== 'string' || said.length === 0 || said.length > MAX_LENGTH || said.includes('\0'))
    throw invalid(`/${name}`, `must be given once, with 1 to ${MAX_LENGTH} characters`);
  return said;
}

export function wordOf<Word extends string>(
  query: Query,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const said = textOf(query, name);
  const found = words.find((word) => word === said);
  if (said !== undefined && found === undefined)
    throw invalid(`/${name}`, `must be one of ${words.join(', ')}`);
  return found;
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;

export function timeOf(query: Query, name: string): Date | undefined {
  const said = textOf(query, name);
  if (said === undefined) return undefined;
  const time = new Date(INSTANT.test(said) ? said : Number.NaN);
  if (Number.isNaN(time.getTime())) throw invalid(`/${name}`, 'must be a time such as 2026-01-31T12:00:00Z');
  return time;
}

export function positionOf(query: Query): HistoryPosition | undefined {
  const token = textOf(query, 'page_token');
  if (token === undefined) return undefined;
  const [, at, id] = TOKEN.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (at === undefined || id === undefined || id.includes('\0'))
    throw invalid('/page_token', 'must be a next_page_token of this list');
  return { at: Number(at), id };
}

/** Empty on the last page. */
export function tokenOf(next: HistoryPosition | undefined): string {
  return next === undefined ? '' : Buffer.from(`${next.at}.${next.id}`).toString('base64url');
}
