// Each way around row-level security has its sentence; what is sound has none.
import { describe, expect, it } from 'vitest';
import type { SqlIsolation, SqlRelation } from '../../ports/egress/sql-databases.ts';
import { isolationFaults } from './check-isolation.ts';

const OWN_ROWS = { name: 'own_rows', permissive: true, forAllCommands: true, usingBindsTenant: true };
const EVERYTHING = { ...OWN_ROWS, name: 'everything', usingBindsTenant: false };
const KEY = {
  name: 'lines_key',
  table: 'app.lines',
  referenced: 'bookings',
  action: 'ON DELETE CASCADE',
  holdsTenant: false,
};
const GUARD = { ...OWN_ROWS, name: 'guard', permissive: false };

function faultsOf(changes: Partial<SqlRelation> = {}, rest: Partial<SqlIsolation> = {}) {
  const relation: SqlRelation = {
    name: 'bookings',
    kind: 'table',
    system: false,
    partOfAnother: false,
    ownedByRole: false,
    securityInvoker: false,
    rowSecurity: true,
    forced: true,
    policies: [OWN_ROWS],
    rules: [],
    ...changes,
  };
  const role = { name: 'reader', superuser: false, bypassesRls: false };
  return isolationFaults(
    { role, relations: [relation], foreignKeys: [], tenantForms: [], ...rest },
    ['read ON bookings'],
    ['trusted_key ON app.lines'],
  );
}

describe('isolationFaults', () => {
  it.each<[Partial<SqlRelation>, Partial<SqlIsolation>]>([
    [{}, {}],
    [{ kind: 'view', securityInvoker: true, rowSecurity: false }, {}],
    [{ kind: 'sequence', rowSecurity: false }, {}],
    [{ partOfAnother: true, rowSecurity: false, policies: [EVERYTHING] }, {}],
    [{ policies: [] }, {}],
    [{ policies: [EVERYTHING, GUARD] }, {}],
    [{ policies: [{ ...EVERYTHING, name: 'read' }] }, {}],
    [{}, { foreignKeys: [{ ...KEY, holdsTenant: true }] }],
    [{}, { foreignKeys: [{ ...KEY, name: 'trusted_key' }] }],
  ])('%j %j is sound', (relation, rest) => {
    expect(faultsOf(relation, rest)).toEqual([]);
  });

  it.each<[Partial<SqlRelation>, Partial<SqlIsolation>, string]>([
    [{ ownedByRole: true }, {}, 'owns the table'],
    [{ ownedByRole: true, partOfAnother: true }, {}, 'owns the table'],
    [{ rowSecurity: false }, {}, 'is off'],
    [{ forced: false }, {}, 'not forced'],
    [{ kind: 'view' }, {}, 'security_invoker'],
    [{ kind: 'materialized view' }, {}, 'no row-level security'],
    [{ kind: 'foreign table', partOfAnother: true }, {}, 'no row-level security'],
    [{ system: true }, {}, 'belongs to the server'],
    [{ rules: ['also'] }, {}, 'the rule also of bookings'],
    [{ policies: [OWN_ROWS, EVERYTHING] }, {}, 'policy everything'],
    [{ policies: [EVERYTHING, { ...GUARD, forAllCommands: false }] }, {}, 'policy everything'],
    [{ policies: [EVERYTHING, { ...GUARD, checkBindsTenant: false }] }, {}, 'policy everything'],
    [
      { policies: [EVERYTHING, { ...GUARD, usingBindsTenant: undefined, checkBindsTenant: true }] },
      {},
      'policy everything',
    ],
    [{ policies: [{ ...OWN_ROWS, checkBindsTenant: false }] }, {}, 'policy own_rows'],
    [{ policies: [{ ...EVERYTHING, inexact: 'not exact' }] }, {}, 'not exact'],
    [{}, { foreignKeys: [KEY] }, 'the foreign key lines_key of app.lines (ON DELETE CASCADE)'],
    [{}, { role: { name: 'r', superuser: true, bypassesRls: false } }, 'superuser'],
    [{}, { role: { name: 'r', superuser: false, bypassesRls: true } }, 'BYPASSRLS'],
  ])('%j %j is refused', (relation, rest, reason) => {
    expect(faultsOf(relation, rest)).toEqual([expect.stringContaining(reason)]);
  });
});
