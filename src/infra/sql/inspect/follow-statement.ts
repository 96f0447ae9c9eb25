// Follows a parsed statement through the catalog to all that runs when it does: functions, views, policies, triggers, types.
import type { ClientBase } from 'pg';
import type { SqlFunction, SqlIsolation } from '../../../ports/egress/sql-databases.ts';
import { CATALOG_QUERY, LOOSE_COLLATIONS_QUERY } from './catalog-query.ts';
import type { CatalogAnswer, CatalogCollation } from './catalog.ts';
import { Reach, type Wanted } from './reach.ts';
import { Unfit } from './unfit.ts';

export interface Followed extends Omit<SqlIsolation, 'role'> {
  readonly functions: readonly SqlFunction[];
}

/** What the statement itself calls, and no further. */
export async function calledBy(client: ClientBase, tree: string): Promise<readonly SqlFunction[]> {
  return (await walk(client, new Reach(tree, 'calls'))).functions();
}

/** `writes`: triggers, defaults, checks, indexes and keys of the tables are followed too. */
export async function follow(client: ClientBase, tree: string, writes: boolean): Promise<Followed> {
  const { rows } = await client.query<CatalogCollation>(LOOSE_COLLATIONS_QUERY);
  const loose = new Map(rows.map(({ oid, name }) => [oid, name]));
  const reach = await walk(client, new Reach(tree, writes ? 'writes' : 'reads'));
  return { functions: reach.functions(), ...reach.isolation(loose) };
}

async function walk(client: ClientBase, reach: Reach): Promise<Reach> {
  for (let next = reach.next(); next !== undefined; next = reach.next()) reach.take(await ask(client, next));
  return reach;
}

async function ask(
  client: ClientBase,
  { functions, operators, relations, types }: Wanted,
): Promise<CatalogAnswer> {
  const { rows } = await client.query<{ found: CatalogAnswer }>(CATALOG_QUERY, [
    functions,
    operators,
    relations,
    types,
  ]);
  const found = rows[0]?.found;
  if (found === undefined) throw new Unfit('The server did not say what the statement reaches.');
  return found;
}
