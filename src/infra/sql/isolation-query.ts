// One query on the catalog: the role, and every relation and function that a function ($1, in pg_temp) reaches.

/**
 * Follows recorded dependencies: of functions with a parsed body, of views by their rewrite rules, of operators
 * by their functions. What comes with PostgreSQL itself is not recorded, and holds no tenant's data.
 */
export const ISOLATION_QUERY = `
WITH RECURSIVE start AS (
  SELECT p.oid FROM pg_proc p WHERE p.proname = $1 AND p.pronamespace = pg_my_temp_schema()
), reached(class, object) AS (
  SELECT 'pg_proc'::regclass::oid, oid FROM start
  UNION
  SELECT next.class, next.object
  FROM reached CROSS JOIN LATERAL (
    SELECT d.refclassid AS class, d.refobjid AS object FROM pg_depend d
    WHERE d.classid = reached.class AND d.objid = reached.object
      AND d.classid IN ('pg_proc'::regclass, 'pg_rewrite'::regclass)
      AND d.refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass)
    UNION ALL
    SELECT 'pg_rewrite'::regclass, r.oid FROM pg_rewrite r
    WHERE reached.class = 'pg_class'::regclass AND r.ev_class = reached.object AND r.ev_type = '1'
    UNION ALL
    SELECT 'pg_proc'::regclass, o.oprcode FROM pg_operator o
    WHERE reached.class = 'pg_operator'::regclass AND o.oid = reached.object
  ) next
), relations AS (
  SELECT json_build_object(
    'name', c.oid::regclass::text,
    'kind', CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table'
      WHEN 'S' THEN 'sequence' ELSE 'table' END,
    'ownedByRole', pg_has_role(current_user, c.relowner, 'MEMBER'),
    'securityInvoker', COALESCE((SELECT option_value::boolean FROM pg_options_to_table(c.reloptions)
      WHERE option_name = 'security_invoker'), false),
    'rowSecurity', c.relrowsecurity,
    'forced', c.relforcerowsecurity,
    'policies', (
      SELECT COALESCE(json_agg(json_build_object(
        'name', p.polname,
        'permissive', p.polpermissive,
        'forAllCommands', p.polcmd = '*',
        'expressions', array_remove(
          ARRAY[pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)], NULL)
      ) ORDER BY p.polname), '[]')
      FROM pg_policy p
      WHERE p.polrelid = c.oid AND (p.polroles = '{0}' OR EXISTS (
        SELECT FROM unnest(p.polroles) AS r(oid) WHERE pg_has_role(current_user, r.oid, 'MEMBER')))
    )
  ) AS relation
  FROM reached JOIN pg_class c ON reached.class = 'pg_class'::regclass AND c.oid = reached.object
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
  ORDER BY c.oid::regclass::text
), functions AS (
  SELECT json_build_object(
    'name', p.oid::regprocedure::text,
    'securityDefiner', p.prosecdef,
    'opaque', p.prosqlbody IS NULL AND l.lanname NOT IN ('internal', 'c')
  ) AS function
  FROM reached JOIN pg_proc p ON reached.class = 'pg_proc'::regclass AND p.oid = reached.object
  JOIN pg_language l ON l.oid = p.prolang
  WHERE p.oid NOT IN (SELECT oid FROM start)
  ORDER BY p.oid::regprocedure::text
)
SELECT json_build_object(
  'role', (SELECT json_build_object(
      'name', current_user,
      'superuser', bool_or(rolsuper),
      'bypassesRls', bool_or(rolbypassrls)
    ) FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER')),
  'relations', (SELECT COALESCE(json_agg(relation), '[]') FROM relations),
  'functions', (SELECT COALESCE(json_agg(function), '[]') FROM functions)
) AS isolation`;
