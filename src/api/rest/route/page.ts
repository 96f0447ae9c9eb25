// Lists, all alike: a size and an opaque token are asked for (AIP-158), the items and the next token are answered.
import { z } from 'zod';
import { list, named, text, type Shape } from './shapes.ts';

const DEFAULT_SIZE = 100;
const MAX_SIZE = 1000;
const MAX_KEY = 300;
const TOKEN = /^[A-Za-z0-9_-]{1,400}$/;

const SIZE = `must be a whole number from 1 to ${MAX_SIZE}`;

export const pageSize = () =>
  z
    .preprocess((said) => {
      if (typeof said !== 'string') return said;
      return /^\d+$/.test(said) ? Math.min(Number(said), MAX_SIZE) : Number.NaN;
    }, z.int(SIZE).min(1, SIZE).default(DEFAULT_SIZE))
    .describe(`How many at most; more than ${MAX_SIZE} is taken as ${MAX_SIZE}.`);

/** The parameters of a list; `key`: what the last item of a page is known by. */
export function paging(key: RegExp = /^[^\0]+$/) {
  const token = z
    .string()
    .transform((said, context) => {
      const found = keyOf(said);
      if (found !== undefined && key.test(found)) return found;
      context.addIssue('must be a next_page_token of this list');
      return z.NEVER;
    })
    .optional()
    .describe('The `next_page_token` of the page before.')
    .meta({ pattern: TOKEN.source });
  return { page_size: pageSize(), page_token: token };
}

/** A page as a component of the document: `more` beside the items. */
export function pageShape<Name extends string, Item extends z.ZodType, More extends object = object>(
  id: string,
  items: Name,
  item: Shape<Item>,
  more?: () => More & z.ZodRawShape,
) {
  return named(id, () => {
    const one = { [items]: list(item()) } as { [Key in Name]: z.ZodReadonly<z.ZodArray<Item>> };
    const next = { next_page_token: text('Give it as `page_token`; empty on the last page.') };
    return z.object({ ...(more?.() ?? ({} as More)), ...one, ...next });
  });
}

/** Empty: there is no further page. */
export function tokenOf(key: string | undefined): string {
  return key === undefined ? '' : Buffer.from(key).toString('base64url');
}

/** Undefined: it is no token of ours. */
export function keyOf(token: string): string | undefined {
  if (!TOKEN.test(token)) return undefined;
  const key = Buffer.from(token, 'base64url').toString();
  return key.length <= MAX_KEY ? key : undefined;
}

/** One page of items that are sorted by their key, after the one of the token. */
export function pageOf<Item>(
  items: readonly Item[],
  keyOfItem: (item: Item) => string,
  {
    page_size: size,
    page_token: after,
  }: { readonly page_size: number; readonly page_token?: string | undefined },
): { page: readonly Item[]; next_page_token: string } {
  const start = after === undefined ? 0 : items.findIndex((item) => keyOfItem(item) > after);
  const page = start === -1 ? [] : items.slice(start, start + size);
  const last = page.at(-1);
  const more = last !== undefined && start + page.length < items.length;
  return { page, next_page_token: tokenOf(more ? keyOfItem(last) : undefined) };
}
