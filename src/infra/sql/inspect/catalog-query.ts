// One query on the catalog: what is known of functions ($1), operators ($2), relations ($3) and types ($4), by their oids.

/** What comes with PostgreSQL itself has oids below 16384. */
const list = (query: string) => `(SELECT COALESCE(json_agg(x), '[]') FROM (${query}) AS found(x))`;

const FUNCTIONS = `
SELECT json_build_object(
  'oid', p.oid::bigint, 'name', p.oid::regprocedure::text, 'plainName', p.proname,
  'builtin', p.oid < 16384 AND n.nspname = 'pg_catalog',
  'volatility', p.provolatile, 'language', l.lanname, 'securityDefiner', p.prosecdef,
  'settings', ${list(`SELECT split_part(c, '=', 1) FROM unnest(p.proconfig) c`)},
  'extension', (SELECT e.extname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
    WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
      AND d.refclassid = 'pg_extension'::regclass),
  'body', CASE WHEN p.oid >= 16384 THEN p.prosqlbody::text END,
  'defaults', CASE WHEN p.oid >= 16384 THEN p.proargdefaults::text END,
  'parts', CASE WHEN p.oid < 16384 THEN '[]' ELSE ${list(`
    SELECT part::oid::bigint FROM pg_aggregate a, unnest(ARRAY[a.aggtransfn, a.aggfinalfn, a.aggcombinefn,
      a.aggserialfn, a.aggdeserialfn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn]::oid[]) part
    WHERE a.aggfnoid = p.oid AND part <> 0`)} END,
  'types', ${list(`SELECT t::bigint FROM unnest(p.proargtypes::oid[] || p.prorettype) t WHERE t >= 16384`)}
)
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
WHERE p.oid = ANY ($1::oid[]) OR p.oid IN (SELECT o.oprcode FROM pg_operator o WHERE o.oid = ANY ($2::oid[]))
ORDER BY p.oid`;

/** A role that inherits nothing is not bound by the restrictive policies of its groups, but may become what permissive ones are for. */
const POLICIES = `
SELECT json_build_object('name', p.polname, 'permissive', p.polpermissive, 'forAllCommands', p.polcmd = '*',
  'using', p.polqual::text, 'check', p.polwithcheck::text)
FROM pg_policy p
WHERE p.polrelid = c.oid AND (p.polroles = '{0}' OR EXISTS (
  SELECT FROM unnest(p.polroles) AS r(oid)
  WHERE pg_has_role(current_user, r.oid, CASE WHEN p.polpermissive THEN 'MEMBER' ELSE 'USAGE' END)))
ORDER BY p.polname`;

/** Partitions have copies of the keys of their table: the one that was declared counts. */
const KEYS = `
SELECT json_build_object('oid', k.oid::bigint, 'name', k.conname, 'table', k.conrelid::bigint, 'inherited', k.inherited,
  'onUpdate', k.confupdtype, 'onDelete', k.confdeltype,
  'pairs', ${list(`
    SELECT json_build_object('column', a.attname, 'referenced', b.attname, 'operator', pair.operator::bigint,
      'collations', json_build_array(a.attcollation::bigint, b.attcollation::bigint),
      'setOnDelete', COALESCE(NULLIF(to_jsonb(k) -> 'confdelsetcols', 'null') @> to_jsonb(pair.own), true))
    FROM unnest(k.conkey, k.pointed, k.conpfeqop) AS pair(own, other, operator)
    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.own
    JOIN pg_attribute b ON b.attrelid = c.oid AND b.attnum = pair.other`)})
FROM (
  SELECT DISTINCT ON (declared.oid) declared.*, k.confkey AS pointed, declared.confrelid <> c.oid AS inherited
  FROM pg_constraint k, LATERAL (
    WITH RECURSIVE up AS (
      SELECT k.* UNION ALL SELECT above.* FROM pg_constraint above JOIN up ON above.oid = up.conparentid)
    SELECT * FROM up WHERE up.conparentid = 0) AS declared
  WHERE k.contype = 'f' AND k.confrelid = c.oid
    AND (declared.confupdtype IN ('c', 'n', 'd') OR declared.confdeltype IN ('c', 'n', 'd'))
) AS k
ORDER BY k.oid`;

const ON_WRITE = `
SELECT d.adbin::text FROM pg_attrdef d WHERE d.adrelid = c.oid
UNION ALL SELECT k.conbin::text FROM pg_constraint k WHERE k.conrelid = c.oid AND k.conbin IS NOT NULL
UNION ALL SELECT tree FROM pg_index i, unnest(ARRAY[i.indexprs::text, i.indpred::text]) tree
  WHERE i.indrelid = c.oid AND tree IS NOT NULL
UNION ALL SELECT k.partexprs::text FROM pg_partitioned_table k WHERE k.partrelid = c.oid AND k.partexprs IS NOT NULL
UNION ALL SELECT t.tgqual::text FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgqual IS NOT NULL AND t.tgenabled <> 'D'`;

const ON_READ = `
SELECT r.ev_action::text FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.ev_type = '1'
UNION ALL SELECT d.adbin::text FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
  WHERE d.adrelid = c.oid AND a.attgenerated = 'v'`;

const RELATIONS = `
SELECT json_build_object(
  'oid', c.oid::bigint, 'name', c.oid::regclass::text,
  'kind', CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table'
    WHEN 'S' THEN 'sequence' ELSE 'table' END,
  'system', c.oid < 16384,
  'ownedByRole', pg_has_role(current_user, c.relowner, 'MEMBER'),
  'securityInvoker', COALESCE((SELECT option_value::boolean FROM pg_options_to_table(c.reloptions)
    WHERE option_name = 'security_invoker'), false),
  'rowSecurity', c.relrowsecurity, 'forced', c.relforcerowsecurity,
  'policies', ${list(POLICIES)},
  'columns', (SELECT COALESCE(json_object_agg(a.attnum, a.attname), '{}') FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
  'keys', ${list(KEYS)},
  'rules', ${list(`SELECT r.rulename FROM pg_rewrite r
    WHERE r.ev_class = c.oid AND r.ev_type <> '1' AND r.ev_enabled <> 'D' ORDER BY 1`)},
  'onRead', ${list(ON_READ)},
  'onWrite', ${list(ON_WRITE)},
  'triggers', ${list(`SELECT t.tgfoid::bigint FROM pg_trigger t
    WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'`)},
  'types', ${list(`SELECT a.atttypid::bigint FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid >= 16384`)},
  'children', ${list(`SELECT i.inhrelid::bigint FROM pg_inherits i WHERE i.inhparent = c.oid`)}
)
FROM pg_class c WHERE c.oid = ANY ($3::oid[])`;

const TYPES = `
SELECT json_build_object(
  'oid', t.oid::bigint,
  'types', ${list(`
    SELECT part::bigint FROM (
      SELECT unnest(ARRAY[t.typbasetype, t.typelem]) UNION ALL
      SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped UNION ALL
      SELECT r.rngsubtype FROM pg_range r WHERE r.rngtypid = t.oid UNION ALL
      SELECT r.rngtypid FROM pg_range r WHERE r.rngmultitypid = t.oid
    ) AS parts(part) WHERE part <> 0`)},
  'input', json_build_object('oid', t.typinput::oid::bigint,
    'name', (SELECT CASE WHEN p.oid < 16384 THEN p.proname ELSE '' END FROM pg_proc p WHERE p.oid = t.typinput)),
  'trees', ${list(`
    SELECT k.conbin::text FROM pg_constraint k WHERE k.contypid = t.oid AND k.conbin IS NOT NULL
    UNION ALL SELECT t.typdefaultbin::text WHERE t.typdefaultbin IS NOT NULL`)},
  'functions', ${list(`SELECT k.castfunc::bigint FROM pg_cast k
    WHERE k.castsource = t.oid AND k.castfunc <> 0 AND k.casttarget IN ('json'::regtype, 'jsonb'::regtype)`)}
)
FROM pg_type t WHERE t.oid = ANY ($4::oid[])`;

export const CATALOG_QUERY = `
SELECT json_build_object('functions', ${list(FUNCTIONS)}, 'relations', ${list(RELATIONS)}, 'types', ${list(TYPES)}) AS found`;

/** The role that statements run as, and what it may become. */
export const ROLE_QUERY = `
SELECT current_user AS name, bool_or(rolsuper) AS superuser, bool_or(rolbypassrls) AS "bypassesRls"
FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER')`;

/** Under these, texts that differ may be equal. The default of a database is never one of them. */
export const LOOSE_COLLATIONS_QUERY = `
SELECT c.oid::bigint::int AS oid, format('%I.%I', n.nspname, c.collname) AS name
FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace WHERE NOT c.collisdeterministic`;
