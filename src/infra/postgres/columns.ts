// Columns under the names that ports give them: a row has the shape of its object, and no code copies it name by name.
import { sql, type RawBuilder } from 'kysely';
import { snakeCase } from '../../lib/settings/snake-case.ts';

/** `c.tenant_id AS "tenantId", …`; without `from` as they stand. */
export function columns<Row>(names: readonly (keyof Row & string)[], from = ''): RawBuilder<Row> {
  const prefix = from === '' ? '' : `${from}.`;
  return sql<Row>`${sql.join(names.map((name) => sql`${column(`${prefix}${name}`)} AS ${sql.ref(name)}`))}`;
}

/** `tenant_id` of `tenantId`. */
export function column(name: string): RawBuilder<unknown> {
  return sql.ref(snakeCase(name));
}
