// One query on the catalog: what is known of functions ($1), operators ($2), relations ($3) and types ($4), by their oids.

export interface CatalogAnswer {
  readonly functions: readonly CatalogFunction[];
  readonly relations: readonly CatalogRelation[];
  readonly types: readonly CatalogType[];
}

/** Texts named as trees are what the server made of an expression or a statement (pg_node_tree). */
export interface CatalogFunction {
  readonly oid: number;
  readonly name: string;
  readonly plainName: string;
  readonly builtin: boolean;
  readonly volatility: 'i' | 's' | 'v';
  readonly language: string;
  readonly securityDefiner: boolean;
  readonly settings: readonly string[];
  readonly extension: string | null;
  /** The body, where it is not text, and the defaults of arguments that a call leaves out. */
  readonly body: string | null;
  readonly defaults: string | null;
  /** The functions that an aggregate consists of. */
  readonly parts: readonly number[];
  readonly types: readonly number[];
}

export interface CatalogPolicy {
  readonly name: string;
  readonly permissive: boolean;
  readonly forAllCommands: boolean;
  readonly using: string | null;
  readonly check: string | null;
}

export interface CatalogRelation {
  readonly oid: number;
  readonly name: string;
  readonly kind: 'table' | 'view' | 'materialized view' | 'foreign table' | 'sequence';
  readonly system: boolean;
  readonly ownedByRole: boolean;
  readonly securityInvoker: boolean;
  readonly rowSecurity: boolean;
  readonly forced: boolean;
  readonly policies: readonly CatalogPolicy[];
  /** Those besides the one that makes a view. */
  readonly rules: readonly string[];
  /** What a read of it evaluates: a view's statement, generated columns that are not stored. */
  readonly onRead: readonly string[];
  /** What a change of it evaluates: defaults, checks, indexes, conditions of triggers. */
  readonly onWrite: readonly string[];
  readonly triggers: readonly number[];
  readonly types: readonly number[];
  /** Partitions, and tables that inherit from it. */
  readonly children: readonly number[];
}

export interface CatalogType {
  readonly oid: number;
  readonly types: readonly number[];
  /** A domain's checks and default. */
  readonly trees: readonly string[];
  /** Casts to JSON, which to_json() and its kind call by themselves. */
  readonly functions: readonly number[];
}

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

const POLICIES = `
SELECT json_build_object('name', p.polname, 'permissive', p.polpermissive, 'forAllCommands', p.polcmd = '*',
  'using', p.polqual::text, 'check', p.polwithcheck::text)
FROM pg_policy p
WHERE p.polrelid = c.oid AND (p.polroles = '{0}' OR EXISTS (
  SELECT FROM unnest(p.polroles) AS r(oid) WHERE pg_has_role(current_user, r.oid, 'MEMBER')))
ORDER BY p.polname`;

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
    ) AS parts(part) WHERE part >= 16384`)},
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

export const EQUALS_QUERY = `
SELECT oid::bigint::int AS oid FROM pg_operator
WHERE oprname = '=' AND oid < 16384 AND oprnamespace = 'pg_catalog'::regnamespace`;
