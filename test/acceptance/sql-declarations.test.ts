// Declarations that would read another tenant's rows or act beyond their call, on PostgreSQL: refused at load.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqlOptions } from '../../src/executors/sql/index.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { sqlKit, TWO_TENANTS, type SqlKit } from '../helpers/sql-kit.ts';
import { TRAPS } from '../helpers/sql-traps.ts';

type Case = readonly [
  name: string,
  statement: string,
  reason: RegExp | string,
  options?: Partial<SqlOptions>,
];

const HIDDEN_CALLS: readonly Case[] = [
  // A string that goes on on the next line stays what it began as: behind the quote that seems not to end it comes code.
  [
    'set_config behind a continued E-string',
    "SELECT E'a'\n'\\'' || set_config('app.tenant_id', 'umbrella', true) AS x --'",
    'set_config(text,text,boolean) is not for tools',
  ],
  [
    'set_config behind an E-string continued after a comment',
    "SELECT e'a' -- b\n '\\'' || set_config('app.tenant_id', 'umbrella', true) AS x --'",
    'set_config',
  ],
  ['set_config as U&"…"', 'SELECT U&"\\0073et_config"(\'a.b\', {t}, true) AS x', 'set_config'],
  [
    'set_config with another escape',
    "SELECT U&\"!0073et_config\" UESCAPE '!' ('a.b', {t}, true) AS x",
    'set_config',
  ],
  [
    'set_config in ORDER BY',
    "SELECT id FROM app.bookings ORDER BY set_config('a.b', 'c', true)",
    'set_config',
  ],
  [
    'set_config in LIMIT',
    "SELECT id FROM app.bookings LIMIT length(set_config('a.b', 'c', true))",
    'set_config',
  ],
  [
    'set_config in a window',
    "SELECT count(*) OVER (PARTITION BY set_config('a.b', 'c', true)) AS n FROM app.bookings",
    'set_config',
  ],
  [
    'set_config in FILTER',
    "SELECT count(*) FILTER (WHERE set_config('a.b', 'c', true) = 'c') AS n FROM app.bookings",
    'set_config',
  ],
  ['set_config in VALUES', "VALUES (set_config('a.b', {t}, true))", 'set_config'],
  ['set_config in FROM', "SELECT x FROM set_config('a.b', {t}, true) AS x", 'set_config'],
  ['set_config in ROWS FROM', "SELECT x FROM ROWS FROM (set_config('a.b', {t}, true)) AS f(x)", 'set_config'],
  [
    'set_config in a variadic array',
    "SELECT concat(VARIADIC ARRAY[set_config('a.b', {t}, true)]) AS x",
    'set_config',
  ],
  [
    'set_config in a CTE that nobody reads',
    "WITH x AS MATERIALIZED (SELECT set_config('a.b', {t}, true)) SELECT 1 AS a",
    'set_config',
  ],
  [
    'ts_stat in attribute notation',
    'SELECT (s.q).ts_stat FROM (SELECT {q}::text AS q) s',
    'ts_stat(text) is not',
  ],
  [
    'ts_stat of a column by its table',
    'SELECT * FROM (SELECT {q}::text AS q) s, LATERAL ts_stat(s.q)',
    'ts_stat',
  ],
  [
    'pg_terminate_backend in attribute notation',
    'SELECT (s.pid).pg_terminate_backend AS x FROM (SELECT {pid}::int AS pid) s',
    /pg_terminate_backend\(integer,bigint\) is not for tools/,
  ],
  [
    'an advisory lock in attribute notation',
    'SELECT (7::bigint).pg_advisory_lock AS x',
    'pg_advisory_lock(bigint)',
  ],
  [
    'ts_rewrite with a statement as text',
    "SELECT ts_rewrite('a'::tsquery, {q}) AS x",
    'ts_rewrite(tsquery,text)',
  ],
  ['an operator that calls set_config', "SELECT OPERATOR(app.!!) 'x'::text AS x", 'set_config'],
  ['a function whose default calls set_config', 'SELECT app.by_default() AS x', 'set_config'],
  ['a function that runs as another tenant', 'SELECT app.as_umbrella() AS n', 'SET app.tenant_id'],
  [
    'PostgreSQL’s own function under another name',
    'SELECT app.nap(0.1)::text AS x',
    'app.nap(double precision)',
  ],
  [
    'an aggregate of somebody’s own making',
    'SELECT app.grab(guest) AS x FROM app.bookings',
    'app.step(text,text)',
  ],
  ['a cast by a function', "SELECT ROW('x')::app.token::text AS x", 'app.token_text(app.token)'],
  ['a cast to json that to_json calls', "SELECT to_json('a'::app.kind) AS x", 'app.kind_json(app.kind)'],
  ['a view that calls set_config', 'SELECT id FROM app.turning_view', 'set_config'],
];

const OTHER_FUNCTIONS: readonly Case[] = [
  ['a statement as text', "SELECT query_to_xml({q}, true, true, '') AS x", 'query_to_xml'],
  [
    'a whole table as XML',
    "SELECT table_to_xml('app.or_true'::regclass, true, true, '') AS x",
    'table_to_xml',
  ],
  ['a whole database as XML', "SELECT database_to_xml(true, true, '') AS x", 'database_to_xml'],
  ['a cursor as XML', "SELECT cursor_to_xml('c'::refcursor, 1, true, true, '') AS x", 'cursor_to_xml'],
  ['a large object', 'SELECT lo_get({o}::oid) AS x', 'lo_get(oid)'],
  ['a file as a large object', "SELECT lo_import('/etc/passwd') AS x", 'lo_import(text)'],
  ['a file', "SELECT pg_read_file('PG_VERSION') AS x", 'pg_read_file(text)'],
  ['a folder', "SELECT x FROM pg_ls_dir('.') AS x", 'pg_ls_dir(text)'],
  ['all settings', 'SELECT name, setting FROM pg_show_all_settings()', 'pg_show_all_settings'],
  ['a setting that the caller names', 'SELECT current_setting({name}) AS x', 'current_setting may read'],
  [
    'a setting that holds a secret',
    "SELECT current_setting('app.jwt_secret', true) AS x",
    'current_setting may read',
  ],
  ['what other sessions run', 'SELECT query FROM pg_stat_get_activity(NULL)', 'pg_stat_get_activity'],
  [
    'a sequence that the caller names',
    'SELECT nextval({s}::regclass) AS x',
    'regclassin(cstring) is not for tools',
  ],
  ['the last value of another call', 'SELECT lastval() AS x', 'lastval() is not for tools'],
  ['a seed for later calls', 'SELECT setseed(0.5)::text AS x', 'setseed'],
  ['a message to other sessions', "SELECT pg_notify('a', {t})::text AS x", 'list it in trusted_functions'],
  ['a lock', 'SELECT pg_advisory_xact_lock(1)::text AS x', 'list it in trusted_functions'],
  ['a wait', 'SELECT pg_sleep(9)::text AS x', 'list it in trusted_functions'],
  ['a transaction’s number', 'SELECT txid_current() AS x', 'list it in trusted_functions'],
  ['a snapshot for others', 'SELECT pg_export_snapshot() AS x', 'pg_export_snapshot'],
  ['a name that the caller looks up', 'SELECT {t}::regrole::text AS x', 'regrolein(cstring)'],
  ['a name looked up from a text', "SELECT ('app.' || {t})::regtype::text AS x", 'regtypein(cstring)'],
  ['a privilege that is probed', 'SELECT has_table_privilege({t}, {p}) AS x', 'has_table_privilege'],
  ['the definition of a view', "SELECT pg_get_viewdef('app.leaky'::regclass) AS x", 'pg_get_viewdef'],
];

const POLICIES: readonly Case[] = [
  ['OR true', 'SELECT id FROM app.or_true', 'policy or_true_rows of app.or_true'],
  ['OR true, under a view', 'SELECT id FROM app.unguarded_view', 'policy or_true_rows of app.or_true'],
  ['the name of the setting as a text', 'SELECT id FROM app.mentions', 'policy mentions_rows'],
  ['that there is a tenant at all', 'SELECT id FROM app.reads_it', 'policy reads_it_rows'],
  ['<> for =', 'SELECT id FROM app.unlike', 'policy unlike_rows'],
  ['NOT', 'SELECT id FROM app.negated', 'policy negated_rows'],
  ['OR IS NULL', 'SELECT id FROM app.shared_rows', 'policy shared_rows_rows'],
  ['EXISTS about other rows', 'SELECT id FROM app.somewhere', 'policy somewhere_rows'],
  ['an = of somebody’s own making', 'SELECT id FROM app.own_operator', 'policy own_operator_rows'],
  ['a cut-off text', 'SELECT id FROM app.first_letter', 'policy first_letter_rows'],
  ['the column with itself', 'SELECT id FROM app.itself', 'policy itself_rows'],
  ['a constant', 'SELECT id FROM app.constant', 'policy constant_rows'],
  ['WITH CHECK (true)', 'SELECT id FROM app.open_check', 'policy open_check_rows'],
  ['a restriction of writes alone', 'SELECT id FROM app.guard_of_writes', 'policy guard_of_writes_rows'],
  ['a call of set_config', 'SELECT id FROM app.turning', 'set_config'],
  ['a table of all tenants', 'SELECT id FROM app.lines', 'policy lines_rows'],
];

/** Policies and columns under which two tenants may count as one. */
const LOOSE_EQUALITY: readonly Case[] = (
  [
    ['a case-insensitive collation of the column', 'ci_column', 'the collation app.ci'],
    ['the same in one branch of an OR', 'ci_either', 'the collation app.ci'],
    ['a case-insensitive collation in the policy', 'ci_policy', 'the collation app.ci'],
    ['a case-insensitive collation of a domain', 'ci_domain', 'the collation app.ci'],
    ['char(n), which drops blanks', 'padded', 'is not exact'],
    ['blanks dropped in the policy', 'padded_policy', 'is not exact'],
    ['numeric, where 1 is 1.0', 'numbered', 'is not exact'],
    ['a float', 'floating', 'is not exact'],
    ['a text read as a number', 'text_as_number', 'policy text_as_number_rows'],
    ['a text read as a uuid', 'text_as_uuid', 'policy text_as_uuid_rows'],
    ['lower()', 'folded', 'policy folded_rows'],
    ['a date', 'dated', 'is not exact'],
    ['an address', 'addressed', 'is not exact'],
    ['JSON', 'by_json', 'policy by_json_rows'],
  ] as const
).map(([name, from, reason]) => [name, `SELECT id FROM app.${from}`, reason]);

/** Keys that change rows of another table, where no policy is asked. */
const KEYS: readonly Case[] = (
  [
    [
      'CASCADE by a number',
      'DELETE FROM app.cascaded WHERE id = {id}',
      'key by_id_parent_fkey of app.by_id (ON DELETE CASCADE)',
    ],
    [
      'the same, in a CTE',
      'WITH d AS (DELETE FROM app.cascaded WHERE id = {id} RETURNING id) SELECT id FROM d',
      'by_id_parent_fkey',
    ],
    ['the same, through a view', 'DELETE FROM app.cascading_view WHERE id = {id}', 'by_id_parent_fkey'],
    ['the same, in a function', 'SELECT app.drop_one({id}) AS id', 'by_id_parent_fkey'],
    [
      'the same, by MERGE',
      'MERGE INTO app.cascaded USING (SELECT {id}::int AS id) s ON cascaded.id = s.id WHEN MATCHED THEN DELETE',
      'by_id_parent_fkey',
    ],
    ['ON UPDATE CASCADE', 'UPDATE app.renumbered SET id = {id}', '(ON UPDATE CASCADE)'],
    [
      'the same, ON CONFLICT',
      "INSERT INTO app.renumbered VALUES ({id}, 'acme', 'x') ON CONFLICT (id) DO UPDATE SET id = 9",
      '(ON UPDATE CASCADE)',
    ],
    ['SET NULL', 'DELETE FROM app.nulled WHERE id = {id}', '(ON DELETE SET NULL)'],
    ['SET DEFAULT of the tenant itself', 'DELETE FROM app.reset WHERE id = {id}', '(ON DELETE SET DEFAULT)'],
    ['a key of a key', 'DELETE FROM app.first_of_three WHERE id = {id}', 'third_parent_fkey of app.third'],
    [
      'a trigger behind a key',
      'DELETE FROM app.with_trigger WHERE id = {id}',
      'app.on_change() reaches cannot be seen',
    ],
    ['a rule behind a key', 'DELETE FROM app.with_rule WHERE id = {id}', 'the rule also of app.ruled_child'],
    ['a default behind a key', 'DELETE FROM app.with_default WHERE id = {id}', 'app.turn_into(text)'],
    ['a key to a table that inherits', 'DELETE FROM app.old_parent WHERE id = {id}', 'of_heir_parent_fkey'],
    [
      'a tenant compared loosely',
      'DELETE FROM app.ci_parent WHERE id = {id}',
      'ci_child_tenant_id_parent_fkey',
    ],
    [
      'a table without policies behind a key',
      'DELETE FROM app.without_rows WHERE id = {id}',
      'unpoliced_child_tenant_id_parent_fkey',
    ],
  ] as const
).map(([name, statement, reason]) => [name, statement, reason, { writes: true }]);

/** Types that look names up in the catalog, inside of others. */
const LOOKED_UP: readonly Case[] = [
  ['a list of tables', 'SELECT {x}::regclass[] AS x', 'regclassin(cstring) is not for tools'],
  ['a list of functions', 'SELECT CAST({x} AS regproc[])::text AS x', 'regprocin(cstring)'],
  ['a text as a function', 'SELECT {x}::text::regproc::text AS x', 'regprocin(cstring)'],
  ['a list of texts as functions', 'SELECT {x}::text[]::regproc[]::text AS x', 'regprocin(cstring)'],
  ['a domain', 'SELECT {x}::app.some_class::text AS x', 'regclassin(cstring)'],
  ['a list of a domain', 'SELECT {x}::app.some_class[]::text AS x', 'regclassin(cstring)'],
  ['a record', 'SELECT ({x}::app.with_class).a AS x', 'regclassin(cstring)'],
  ['a domain of a record', 'SELECT ({x}::app.nested).a AS x', 'regclassin(cstring)'],
  [
    'JSON read as a record',
    'SELECT c::text AS c FROM jsonb_populate_record(NULL::app.with_class, {x})',
    'regclassin(cstring)',
  ],
  [
    'JSON read as columns',
    'SELECT c::text AS c FROM jsonb_to_record({x}) AS r(c regrole)',
    'regrolein(cstring)',
  ],
  [
    'XML read as columns',
    "SELECT c::text AS c FROM XMLTABLE('/r' PASSING ({x}::xml) COLUMNS c regclass)",
    'regclassin(cstring)',
  ],
  ['a number as a table', 'SELECT {x}::int::regclass::text AS x', 'regclassin(cstring)'],
  ['a large number as a role', 'SELECT {x}::bigint::regrole::text AS x', 'regrolein(cstring)'],
  ['numbers as tables', 'SELECT {x}::oid[]::regclass[]::text AS x', 'regclassin(cstring)'],
  ['a grant, which names roles', 'SELECT {x}::aclitem::text AS x', 'aclitemin(cstring)'],
  ['a function that does so', 'SELECT app.own_input({x})::text AS x', 'regprocin(cstring)'],
];

/** What a plan would keep from the call of one tenant for the calls of all others. */
const KEPT_BY_PLANS: readonly Case[] = [
  [
    'the tenant',
    'SELECT app.me() AS t',
    'app.me() is declared IMMUTABLE, but calls current_setting(text,boolean)',
  ],
  ['rows', 'SELECT app.my_count() AS n', 'app.my_count() is declared IMMUTABLE, but reads tables'],
  [
    'a policy that is trusted',
    'SELECT id FROM app.by_unseen',
    'ALTER FUNCTION app.me_unseen() STABLE',
    { trusted_functions: ['app.me_unseen()'], trusted_policies: ['by_unseen_rows ON app.by_unseen'] },
  ],
];

const REACHED: readonly Case[] = [
  ['a domain', 'SELECT {x}::app.turned AS x', 'set_config'],
  ['an array of a domain', "SELECT ARRAY['x']::app.turned[] AS x", 'set_config'],
  ['a type with a domain in it', "SELECT '(a,1)'::app.pair AS x", 'set_config'],
  ['JSON read as such a type', "SELECT x.b FROM jsonb_populate_record(NULL::app.pair, '{}') x", 'set_config'],
  ['JSON read with a domain', "SELECT x.a FROM jsonb_to_record('{}') AS x(a app.turned)", 'set_config'],
  ['a range of a domain', "SELECT app.span('a', 'b')::text AS x", 'set_config'],
  ['the catalog', 'SELECT relname FROM pg_class', 'pg_class belongs to the server'],
  ['other sessions', 'SELECT query FROM pg_stat_activity', 'pg_stat_activity belongs to the server'],
  [
    'other sessions, under a view',
    'SELECT query FROM app.sessions',
    'pg_stat_activity belongs to the server',
  ],
  ['the information schema', 'SELECT table_name FROM information_schema.tables', 'belongs to the server'],
  ['a partition by itself', 'SELECT id FROM app.parted_acme', 'app.parted_acme ENABLE ROW LEVEL SECURITY'],
  ['a foreign table', 'SELECT id FROM app.far', 'has no handler'],
];

const WRITES: readonly Case[] = [
  ['a trigger', 'triggered', 'app.on_change() reaches cannot be seen'],
  ['a trigger’s condition', 'conditional', 'set_config'],
  ['a trigger of a partition', 'parted', 'app.on_change() reaches cannot be seen'],
  ['a rule', 'ruled', 'the rule also of app.ruled'],
  ['a default', 'defaulted', 'app.turn_into(text) reaches cannot be seen'],
  ['a check', 'checked', 'set_config'],
  ['a domain of a column', 'typed', 'set_config'],
  ['a generated column', 'generated', 'app.opaque(text) reaches cannot be seen'],
  ['an index on an expression', 'indexed', 'app.opaque(text) reaches cannot be seen'],
  ['an index on some rows', 'partly', 'app.opaque(text) reaches cannot be seen'],
].map(([name = '', into = '', reason = '']) => [
  name,
  `INSERT INTO app.${into} (id, tenant_id, guest) VALUES ({id}, 'acme', {guest})`,
  reason,
  { writes: true },
]);

/** What belongs to no tenant cannot take one. */
const WITHOUT_TENANT: readonly Case[] = (
  [
    ['set_config', "SELECT set_config('app.tenant_id', {t}, true) AS x", 'set_config'],
    [
      'set_config of the session',
      "SELECT pg_catalog.set_config(U&'app\\002etenant_id', {t}, false) AS x",
      'set_config',
    ],
    ['a function that runs as a tenant', 'SELECT app.as_umbrella() AS n', 'runs as somebody else'],
  ] as const
).map(([name, statement, reason]) => [name, statement, reason, { tenant: 'none' }]);

const NO_STATEMENTS: readonly Case[] = [
  ['two statements', "SELECT E'a'\n'\\'' AS a; DELETE FROM app.bookings --'", 'one statement'],
  ['a table made of rows', 'SELECT guest INTO app.copy FROM app.bookings', 'SELECT ... INTO is not allowed'],
  ['COPY', "COPY app.bookings TO '/tmp/x'", 'found a CopyStmt'],
  ['CALL', 'CALL app.x()', 'found a CallStmt'],
  ['EXPLAIN', 'EXPLAIN ANALYZE DELETE FROM app.bookings', 'found a ExplainStmt'],
  ['a write in a CTE', 'WITH d AS (DELETE FROM app.bookings RETURNING id) SELECT id FROM d', 'writes: true'],
  ['a row lock', 'SELECT id FROM app.bookings FOR KEY SHARE', 'writes: true'],
  [
    'a write in a CTE of a subquery',
    'SELECT (WITH d AS (DELETE FROM app.bookings RETURNING id) SELECT id FROM d)',
    '',
  ],
  ['DECLARE', 'DECLARE c CURSOR FOR SELECT 1', 'found a DeclareCursorStmt'],
  ['LISTEN', 'LISTEN a', 'found a ListenStmt'],
  ['a lock of a table', 'LOCK app.bookings', 'found a LockStmt'],
];

const SOUND: readonly (readonly [statement: string, options?: Partial<SqlOptions>])[] = [
  ["SELECT id FROM app.sound_and WHERE guest ILIKE '%' || {q} || '%' ORDER BY id"],
  ['SELECT id FROM app.sound_or'],
  ['SELECT id FROM app.sound_else'],
  ['SELECT id FROM app.by_uuid'],
  ['SELECT id FROM app.parted'],
  ['SELECT id FROM app.lines', { trusted_policies: ['lines_rows ON app.lines'] }],
  ['SELECT app.harmless() AS n, app.joined(guest) AS g FROM app.bookings'],
  ["SELECT {k}::app.size AS size, to_json('s'::app.size) AS j, {s}::app.short AS short"],
  [
    "SELECT now(), clock_timestamp(), date_trunc('day', now()) AS d, to_char(now(), 'YYYY') AS y, random() AS r",
  ],
  [
    "SELECT current_date AS d, now() AT TIME ZONE 'UTC' AS t, now() - interval '1 day' > {at}::timestamptz AS x",
  ],
  ['SELECT extract(epoch FROM {at}::timestamptz) AS e, age({at}::date) AS a, gen_random_uuid() AS u'],
  [
    "SELECT jsonb_agg(note ORDER BY id) FILTER (WHERE note ? 'pin') AS n, string_agg(guest, ',') AS g FROM app.bookings",
  ],
  [
    "SELECT note->>'pin' AS p, note #>> '{a,b}' AS q, note @> '{}' AS c, jsonb_path_query(note, '$.pin') FROM app.bookings",
  ],
  ["SELECT x.a, y FROM jsonb_to_record('{}') AS x(a int), jsonb_array_elements('[]') AS y"],
  [
    'SELECT id, rank() OVER w AS r, lag(guest) OVER w AS l FROM app.bookings WINDOW w AS (PARTITION BY tenant_id ORDER BY id)',
  ],
  [
    "SELECT sum(id) OVER (ORDER BY now() RANGE BETWEEN interval '1 day' PRECEDING AND CURRENT ROW) AS s FROM app.bookings",
  ],
  ['WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT sum(n) AS s FROM t'],
  ['WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n FROM t) CYCLE n SET c USING p SELECT n, c FROM t'],
  [
    'SELECT tenant_id, grouping(guest) AS g, count(DISTINCT id) AS n FROM app.bookings GROUP BY CUBE (tenant_id, guest)',
  ],
  [
    'SELECT DISTINCT ON (guest) guest, percentile_cont(0.5) WITHIN GROUP (ORDER BY id) AS p FROM app.bookings GROUP BY guest',
  ],
  [
    "SELECT to_tsvector('simple', guest) @@ plainto_tsquery('simple', {q}) AS m, ts_rank(to_tsvector(guest), to_tsquery('a')) AS r FROM app.bookings",
  ],
  [
    "SELECT regexp_replace(guest, 'a', 'b') AS a, guest ~ {q} AS b, guest SIMILAR TO 'a%' AS c FROM app.bookings",
  ],
  [
    'SELECT id = ANY({ids}) AS a, (ARRAY[1, 2])[1] AS b, unnest(ARRAY[1]) AS c, {n}::int BETWEEN 1 AND 2 AS d FROM app.bookings',
  ],
  [
    'SELECT ROW(1, 2) < ROW(id, 3) AS a, greatest(id, 1) AS b, coalesce(guest, {q}) AS c, nullif(id, 1) AS d FROM app.bookings',
  ],
  [
    "SELECT int4range(1, id) @> 2 AS a, xmlelement(name x, guest) AS b, format('%s', guest) AS c, md5(guest) AS d FROM app.bookings",
  ],
  [
    'SELECT b.id, s.n FROM app.bookings b LEFT JOIN LATERAL (SELECT count(*) AS n FROM app.sound x WHERE x.id = b.id) s ON true',
  ],
  ['SELECT n, o FROM generate_series(1, 3) WITH ORDINALITY AS g(n, o)'],
  ['SELECT id FROM app.bookings TABLESAMPLE bernoulli (10)'],
  ['SELECT id FROM app.bookings UNION (SELECT id FROM app.sound EXCEPT SELECT 1) ORDER BY id'],
  [
    'SELECT guest COLLATE "C" AS g, CASE WHEN id IS DISTINCT FROM 1 THEN guest::varchar(3) ELSE {q} END AS c FROM app.bookings',
  ],
  [
    "INSERT INTO app.plain (id, tenant_id, guest) VALUES ({id}, 'acme', {g}) ON CONFLICT (id) DO UPDATE SET guest = excluded.guest RETURNING id, n",
    { writes: true },
  ],
  [
    "UPDATE app.plain p SET guest = b.guest, k = 'a' FROM app.bookings b WHERE b.id = p.id AND p.id = {id} RETURNING p.id",
    { writes: true },
  ],
  ['DELETE FROM app.plain USING app.bookings b WHERE b.id = plain.id AND plain.id = {id}', { writes: true }],
  [
    "MERGE INTO app.plain p USING app.bookings b ON b.id = p.id WHEN MATCHED THEN UPDATE SET guest = b.guest WHEN NOT MATCHED THEN INSERT (id, tenant_id) VALUES (b.id, 'acme')",
    { writes: true },
  ],
  [
    "INSERT INTO app.triggered VALUES ({id}, 'acme', {g})",
    { writes: true, trusted_functions: ['app.on_change()'] },
  ],
  ["SELECT nextval('app.plain_n_seq') AS n", { writes: true }],
  [
    'SELECT app.plus(1) AS n, app.plus(id) AS m, app.opaque(guest) AS o FROM app.bookings',
    { trusted_functions: ['app.opaque(text)'] },
  ],
  ['SELECT id FROM app.exact_again UNION SELECT id FROM app.by_name UNION SELECT id FROM app.uuid_as_text'],
  ['SELECT id FROM app.throws'],
  ['DELETE FROM app.sound_parent WHERE id = {id}', { writes: true }],
  ['UPDATE app.sound_parent SET guest = {guest} WHERE id = {id}', { writes: true }],
  ['DELETE FROM app.restricted WHERE id = {id}', { writes: true }],
  ['DELETE FROM app.sharded WHERE id = {id}', { writes: true }],
  ["INSERT INTO app.cascaded VALUES ({id}, 'acme', {g}) ON CONFLICT DO NOTHING", { writes: true }],
  ['INSERT INTO app.plain (id) SELECT id FROM app.cascaded', { writes: true }],
  ['UPDATE app.cascaded SET guest = {g}', { writes: true }],
  [
    'DELETE FROM app.cascaded WHERE id = {id}',
    { writes: true, trusted_foreign_keys: ['by_id_parent_fkey ON app.by_id'] },
  ],
  [
    "SELECT tableoid::regclass::text AS t, pg_typeof(id)::text AS p FROM app.bookings WHERE 'app.bookings'::regclass = tableoid",
  ],
  [
    'SELECT to_tsvector({language}::regconfig, guest) @@ plainto_tsquery({language}::regconfig, {q}) AS m FROM app.bookings',
  ],
  [
    'SELECT {d}::date[] AS d, {r}::tstzrange AS r, {p}::app.size[] AS p, x.a FROM jsonb_to_record({j}) AS x(a timestamptz)',
  ],
  [
    'SELECT pg_advisory_xact_lock({id}::bigint)::text AS l',
    { trusted_functions: ['pg_advisory_xact_lock(bigint)'] },
  ],
];

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres(TWO_TENANTS + TRAPS);
});
afterAll(() => postgres?.stop());

describe('on PostgreSQL', () => {
  let kit: SqlKit;
  beforeAll(() => {
    kit = sqlKit(postgres.url('reader'));
  });
  afterAll(() => kit?.close());

  const load = (statement: string, options: Partial<SqlOptions> = {}) =>
    kit.load(
      { statement, ...options },
      { metadata: { readOnly: options.writes !== true }, parameters: placeholders(statement) },
    );

  describe.each([
    ['a call that is hidden', HIDDEN_CALLS],
    ['a function that is not for tools', OTHER_FUNCTIONS],
    ['a policy that binds no tenant', POLICIES],
    ['what a statement reaches', REACHED],
    ['an equality that is not identity', LOOSE_EQUALITY],
    ['a foreign key that leaves the tenant', KEYS],
    ['a name that is looked up', LOOKED_UP],
    ['what a plan would keep', KEPT_BY_PLANS],
    ['a tenant taken by a tool without one', WITHOUT_TENANT],
    ['what a write sets off', WRITES],
    ['what is no query', NO_STATEMENTS],
  ])('%s is refused', (__, cases) => {
    for (const [name, statement, reason, options] of cases) {
      it(`${name}: no tool`, async () => {
        await expect(load(statement, options)).rejects.toThrow(reason);
      });
    }
  });

  it('a policy in AND, in OR and under COALESCE shows each tenant its own rows', async () => {
    for (const [from, id] of [
      ['sound_and', { acme: 1, umbrella: 2 }],
      ['sound_or', { acme: 1, umbrella: 2 }],
      ['sound_else', { acme: 1, umbrella: 2 }],
    ] as const) {
      const tool = await load(`SELECT id FROM app.${from}`);
      for (const tenant of ['acme', 'umbrella'] as const)
        expect((await tool.call({}, { tenant })).rows).toEqual([{ id: id[tenant] }]);
    }
  });

  it('a tenant and its like in other letters stay apart', async () => {
    for (const from of ['exact_again', 'by_enum']) {
      const tool = await load(`SELECT id FROM app.${from}`);
      expect((await tool.call({}, { tenant: 'acme' })).rows).toEqual([{ id: 1 }]);
      expect((await tool.call({}, { tenant: 'ACME' })).rows).toEqual([{ id: 2 }]);
    }
  });

  it('where a policy reads the tenant as a number, a tenant that is no plain number is refused', async () => {
    const tool = await load('SELECT id FROM app.by_number');
    expect((await tool.call({}, { tenant: '7' })).rows).toEqual([{ id: 1 }]);
    for (const tenant of ['07', ' 7', '7 ', '+7', '0x7', '7.0'])
      await expect(tool.call({}, { tenant })).rejects.toMatchObject({ type: 'PERMISSION_DENIED' });
    const byUuid = await load('SELECT id FROM app.by_uuid');
    for (const tenant of [
      'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
      '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}',
      'acme',
    ])
      await expect(byUuid.call({}, { tenant })).rejects.toMatchObject({ type: 'PERMISSION_DENIED' });
    expect((await byUuid.call({}, { tenant: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' })).rows).toEqual([]);
  });

  it('a trusted function that is STABLE gives each tenant its own on a prepared statement', async () => {
    const tool = await load('SELECT id FROM app.by_stable', {
      trusted_functions: ['app.me_stable()'],
      trusted_policies: ['by_stable_rows ON app.by_stable'],
    });
    for (let round = 0; round < 8; round += 1) {
      expect((await tool.call({}, { tenant: 'acme' })).rows).toEqual([{ id: 1 }]);
      expect((await tool.call({}, { tenant: 'umbrella' })).rows).toEqual([{ id: 2 }]);
    }
  });

  it('a cascade with the tenant in its key changes the own rows alone', async () => {
    const count = await load('SELECT count(*)::int AS n FROM app.sound_grandchild');
    const remove = await load('DELETE FROM app.sound_parent', { writes: true });
    expect((await remove.call({}, { tenant: 'acme' })).affected_rows).toBe(1);
    expect((await count.call({}, { tenant: 'acme' })).rows).toEqual([{ n: 0 }]);
    expect((await count.call({}, { tenant: 'umbrella' })).rows).toEqual([{ n: 1 }]);
  });

  for (const [statement, options] of SOUND) {
    it(`what is sound is let through: ${statement}`, async () => {
      await expect(load(statement, options)).resolves.toBeDefined();
    });
  }
});

it('a restrictive policy for a group that the role does not inherit from guards nothing', async () => {
  const kit = sqlKit(postgres.url('loner'));
  const statement = 'SELECT id FROM app.guarded_for_some';
  await postgres.sql('GRANT USAGE ON SCHEMA app TO loner');
  await expect(kit.load({ statement })).rejects.toThrow(
    'policy guarded_for_some_rows of app.guarded_for_some',
  );
  // From PostgreSQL 16 on, each grant says by itself whether it is inherited.
  await postgres.sql('ALTER ROLE loner INHERIT');
  await postgres.sql('REVOKE wardens FROM loner');
  await postgres.sql('GRANT wardens TO loner');
  const tool = await kit.load({ statement });
  expect((await tool.call()).rows).toEqual([{ id: 1 }]);
  await kit.close();
});

function placeholders(statement: string): string[] {
  return [...statement.replaceAll(/'[^']*'/g, '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}
