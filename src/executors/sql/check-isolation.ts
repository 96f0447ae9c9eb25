// Whether row-level security holds for a statement: the reasons why not, each as a sentence with its remedy.
import {
  TENANT_SETTING,
  type SqlForeignKey,
  type SqlIsolation,
  type SqlPolicy,
  type SqlRelation,
} from '../../ports/egress/sql-databases.ts';

/** Empty: every row that the statement can reach is guarded by a policy on the tenant. */
export function isolationFaults(
  { role, relations, foreignKeys }: SqlIsolation,
  trustedPolicies: readonly string[] = [],
  trustedKeys: readonly string[] = [],
): readonly string[] {
  const faults: string[] = [];
  if (role.superuser)
    faults.push(`the role ${role.name} is a superuser (or may become one), who sees all rows`);
  if (role.bypassesRls)
    faults.push(`the role ${role.name} has BYPASSRLS (or may take it), so no policy holds for it`);
  faults.push(...relations.flatMap((relation) => relationFault(relation, role.name, trustedPolicies)));
  faults.push(...foreignKeys.flatMap((key) => keyFault(key, trustedKeys)));
  return faults;
}

function relationFault(relation: SqlRelation, role: string, trusted: readonly string[]): readonly string[] {
  const { name, kind, system, rules } = relation;
  if (system) return [`${name} belongs to the server, and tells of all tenants`];
  if (rules.length > 0) return [`the rule ${rules.join(', ')} of ${name} acts with its owner's rights`];
  if (kind === 'table') return tableFault(relation, role, trusted);
  if (kind === 'sequence') return [];
  if (kind !== 'view') return [`the ${kind} ${name} has no row-level security`];
  return relation.securityInvoker
    ? []
    : [`the view ${name} reads with its owner's rights: ALTER VIEW ${name} SET (security_invoker = true)`];
}

function tableFault(relation: SqlRelation, role: string, trusted: readonly string[]): readonly string[] {
  const { name } = relation;
  if (relation.ownedByRole)
    return [`the role ${role} owns the table ${name}, and could switch its policies off`];
  if (relation.partOfAnother) return [];
  if (!relation.rowSecurity)
    return [`row-level security is off: ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY`];
  if (!relation.forced)
    return [`row-level security is not forced: ALTER TABLE ${name} FORCE ROW LEVEL SECURITY`];
  return policyFault(relation, trusted);
}

/** Permissive policies are joined by OR, restrictive ones by AND: one that lets all through is enough to leak. */
function policyFault({ name, policies }: SqlRelation, trusted: readonly string[]): readonly string[] {
  if (policies.some(isGuard)) return [];
  return policies
    .filter((policy) => isOpen(policy) && !trusted.includes(`${policy.name} ON ${name}`))
    .map(
      (policy) =>
        `the policy ${policy.name} of ${name} lets through rows of which no column equals current_setting('${TENANT_SETTING}'): ` +
        `${policy.inexact ?? 'compare with it, in AND with all else'}, or list "${policy.name} ON ${name}" in trusted_policies`,
    );
}

/** The server follows a key as the owner of the table that has it: no policy is asked. */
function keyFault(
  { name, table, referenced, action, holdsTenant }: SqlForeignKey,
  trusted: readonly string[],
): readonly string[] {
  const own = `${name} ON ${table}`;
  if (holdsTenant || trusted.includes(own)) return [];
  return [
    `the foreign key ${name} of ${table} (${action}) changes its rows with those of ${referenced}, whatever the policies say: ` +
      `put the tenant's column of both tables into the key, or list "${own}" in trusted_foreign_keys`,
  ];
}

/** One without USING restricts nothing that is read. */
function isGuard({ permissive, forAllCommands, usingBindsTenant, checkBindsTenant }: SqlPolicy): boolean {
  return !permissive && forAllCommands && usingBindsTenant === true && checkBindsTenant !== false;
}

function isOpen({ permissive, usingBindsTenant, checkBindsTenant }: SqlPolicy): boolean {
  return permissive && (usingBindsTenant === false || checkBindsTenant === false);
}
