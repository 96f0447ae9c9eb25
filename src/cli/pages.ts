// The pages of a list of the gateway, one after the other, as far as somebody wants them.
import { InvalidArgumentError, type Command } from 'commander';
import { isJsonObject, type JsonObject } from '../contract/json.ts';
import type { CliIo } from './cli-io.ts';
import { asObject } from './gateway/gateway-answer.ts';
import type { GatewayClient } from './gateway/gateway-client.ts';

interface Listing {
  readonly path: string;
  /** The member of a page that holds the items. */
  readonly items: string;
  readonly query?: { readonly [name: string]: string | undefined };
}

export interface LimitOption {
  readonly limit: number;
}

const MOST = 100;
const LARGEST_PAGE = 1_000;

/** Of lists that grow with what a gateway does: nobody wants all of them on a terminal. */
export function withLimit(command: Command): Command {
  return command.option('--limit <n>', 'so many at most', wholeNumber, MOST);
}

export function allPages(gateway: GatewayClient, listing: Listing): Promise<readonly JsonObject[]> {
  return firstOf(gateway, listing, Number.POSITIVE_INFINITY);
}

/** The newest of a list, and on standard error that there are more. */
export async function newest(
  gateway: GatewayClient,
  listing: Listing,
  { limit }: LimitOption,
  io: CliIo,
): Promise<readonly JsonObject[]> {
  const found = await firstOf(gateway, listing, limit + 1);
  if (found.length > limit) io.stderr(`these are the newest ${limit}; --limit shows more\n`);
  return found.slice(0, limit);
}

/** At least `most` of them, where there are so many. */
async function firstOf(gateway: GatewayClient, { path, items, query }: Listing, most: number) {
  const found: JsonObject[] = [];
  let pageToken: string | undefined;
  do {
    const left = most - found.length;
    const size = Number.isFinite(left) ? { page_size: String(Math.min(left, LARGEST_PAGE)) } : {};
    const page = asObject(await gateway.get(path, { ...query, ...size, page_token: pageToken }));
    const { [items]: listed, next_page_token: next } = page;
    if (Array.isArray(listed)) found.push(...listed.filter(isJsonObject));
    // A token that repeats would never end.
    pageToken = typeof next === 'string' && next !== '' && next !== pageToken ? next : undefined;
  } while (pageToken !== undefined && found.length < most);
  return found;
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number from 1 to 9999999.');
}
