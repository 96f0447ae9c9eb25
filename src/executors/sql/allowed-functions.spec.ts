// What is not listed is refused; what a declaration trusts is trusted only where that can be undone.
import { describe, expect, it } from 'vitest';
import type { SqlFunction } from '../../ports/egress/sql-databases.ts';
import { functionFault } from './allowed-functions.ts';

function builtin(plainName: string, changes: Partial<SqlFunction> = {}): SqlFunction {
  return {
    name: `${plainName}(text)`,
    plainName,
    builtin: true,
    volatility: 'volatile',
    language: 'internal',
    securityDefiner: false,
    opaque: false,
    settings: [],
    foldable: false,
    firstArguments: [undefined],
    ...changes,
  };
}
const own = (changes: Partial<SqlFunction>) =>
  builtin('f', { name: 'app.f(text)', builtin: false, language: 'sql', ...changes });
const faultOf = (fn: SqlFunction, tenant: 'bound' | 'none' = 'bound') =>
  functionFault(fn, tenant, ['app.trusted(text)', 'pg_sleep(text)', 'set_config(text)']);

describe('functionFault', () => {
  it.each([
    builtin('whatever', { volatility: 'immutable' }),
    builtin('now', { volatility: 'stable' }),
    builtin('gen_random_uuid'),
    builtin('pg_sleep'),
    builtin('nextval', { firstArguments: ['#', '#'] }),
    builtin('current_setting', { volatility: 'stable', firstArguments: ['app.tenant_id', 'TimeZone'] }),
    own({}),
    own({ language: 'aggregate' }),
    own({ volatility: 'immutable', foldable: true }),
    own({ volatility: 'stable', changingPart: 'reads tables', foldable: true }),
    own({ name: 'app.trusted(text)', volatility: 'immutable', opaque: true }),
    own({ settings: ['search_path'] }),
    own({ name: 'app.trusted(text)', opaque: true, securityDefiner: true, settings: ['role'] }),
    own({ language: 'c', extension: 'postgis', volatility: 'immutable' }),
    own({ language: 'c', extension: 'pg_trgm', volatility: 'stable' }),
    own({ language: 'c', extension: 'pgcrypto', plainName: 'gen_salt' }),
  ])('$name ($language, $volatility, $settings, $extension) may be called', (fn) => {
    expect(faultOf(fn)).toBeUndefined();
  });

  it.each([
    [builtin('set_config'), 'not for tools'],
    [builtin('acldefault', { volatility: 'immutable' }), 'not for tools'],
    [own({ volatility: 'immutable', changingPart: 'reads tables' }), 'IMMUTABLE, but reads tables'],
    [
      own({ name: 'app.trusted(text)', volatility: 'immutable', opaque: true, foldable: true }),
      'ALTER FUNCTION app.trusted(text) STABLE',
    ],
    [builtin('a_function_of_a_later_release'), 'not for tools'],
    [builtin('pg_stat_get_activity', { volatility: 'stable' }), 'not for tools'],
    [builtin('pg_notify'), 'list it in trusted_functions'],
    [builtin('nextval', { firstArguments: ['#', undefined] }), 'as a constant'],
    [
      builtin('current_setting', { firstArguments: ['app.tenant_id', 'app.key'] }),
      'current_setting may read',
    ],
    [builtin('current_setting', { firstArguments: [undefined] }), 'current_setting may read'],
    [own({ securityDefiner: true }), 'SECURITY DEFINER'],
    [own({ opaque: true }), 'cannot be seen'],
    [own({ settings: ['search_path', 'app.tenant_id'] }), 'SET app.tenant_id'],
    [own({ settings: ['row_security'] }), 'SET row_security'],
    [own({ language: 'internal', volatility: 'immutable' }), 'compiled'],
    [own({ language: 'c', volatility: 'immutable' }), 'compiled'],
    [own({ language: 'c', extension: 'dblink' }), 'compiled'],
    [own({ language: 'c', extension: 'tablefunc', volatility: 'stable' }), 'compiled'],
    [own({ language: 'c', extension: 'constructor', volatility: 'stable' }), 'compiled'],
  ])('$name is refused: %s', (fn, reason) => {
    expect(faultOf(fn)).toContain(reason);
  });

  it('on data without tenants the catalog may be asked, and PostgreSQL’s other functions stay refused', () => {
    expect(faultOf(builtin('pg_stat_get_activity'), 'none')).toBeUndefined();
    expect(faultOf(own({ opaque: true, securityDefiner: true }), 'none')).toBeUndefined();
    expect(faultOf(own({ settings: ['App.Tenant_Id'] }), 'none')).toContain('runs as somebody else');
    for (const fn of [builtin('set_config'), builtin('lo_get'), own({ language: 'c', extension: 'dblink' })])
      expect(faultOf(fn, 'none')).toBeDefined();
  });
});
