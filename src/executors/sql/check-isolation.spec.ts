// Each way around row-level security has its sentence; what is sound has none.
import { describe, expect, it } from 'vitest';
import type { SqlIsolation, SqlRelation } from '../../ports/sql-databases.ts';
import { isolationFaults } from './check-isolation.ts';

const OWN_ROWS = {
  name: 'own_rows',
  permissive: true,
  forAllCommands: true,
  expressions: ["(tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text))"],
};
const EVERYTHING = { ...OWN_ROWS, name: 'everything', expressions: ['true'] };

function faultsOf(changes: Partial<SqlRelation> = {}, rest: Partial<SqlIsolation> = {}) {
  const relation: SqlRelation = {
    name: 'bookings',
    kind: 'table',
    ownedByRole: false,
    securityInvoker: false,
    rowSecurity: true,
    forced: true,
    policies: [OWN_ROWS],
    ...changes,
  };
  const role = { name: 'reader', superuser: false, bypassesRls: false };
  return isolationFaults({ role, relations: [relation], functions: [], ...rest }, ['price(integer)']);
}

describe('isolationFaults', () => {
  it.each<[Partial<SqlRelation>, Partial<SqlIsolation>]>([
    [{}, {}],
    [{ kind: 'view', securityInvoker: true, rowSecurity: false }, {}],
    [{ kind: 'sequence', rowSecurity: false }, {}],
    [{ policies: [] }, {}],
    [{ policies: [EVERYTHING, { ...OWN_ROWS, permissive: false }] }, {}],
    [{}, { functions: [{ name: 'price(integer)', securityDefiner: true, opaque: true }] }],
    [{}, { functions: [{ name: 'lower(citext)', securityDefiner: false, opaque: false }] }],
  ])('%j %j is sound', (relation, rest) => {
    expect(faultsOf(relation, rest)).toEqual([]);
  });

  it.each<[Partial<SqlRelation>, Partial<SqlIsolation>, string]>([
    [{ ownedByRole: true }, {}, 'owns the table'],
    [{ rowSecurity: false }, {}, 'is off'],
    [{ forced: false }, {}, 'not forced'],
    [{ kind: 'view' }, {}, 'security_invoker'],
    [{ kind: 'materialized view' }, {}, 'no row-level security'],
    [{ kind: 'foreign table' }, {}, 'no row-level security'],
    [{ policies: [OWN_ROWS, EVERYTHING] }, {}, 'policy everything'],
    [
      { policies: [EVERYTHING, { ...OWN_ROWS, permissive: false, forAllCommands: false }] },
      {},
      'policy everything',
    ],
    [{ policies: [{ ...OWN_ROWS, expressions: [...OWN_ROWS.expressions, 'true'] }] }, {}, 'policy own_rows'],
    [{}, { functions: [{ name: 'f()', securityDefiner: true, opaque: false }] }, 'SECURITY DEFINER'],
    [{}, { functions: [{ name: 'f()', securityDefiner: false, opaque: true }] }, 'trusted_functions'],
    [{}, { role: { name: 'r', superuser: true, bypassesRls: false } }, 'superuser'],
    [{}, { role: { name: 'r', superuser: false, bypassesRls: true } }, 'BYPASSRLS'],
  ])('%j %j is refused', (relation, rest, reason) => {
    expect(faultsOf(relation, rest)).toEqual([expect.stringContaining(reason)]);
  });
});
