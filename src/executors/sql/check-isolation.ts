// Whether row-level security holds for a statement: the reasons why not, each as a sentence with its remedy.
import {
  TENANT_SETTING,
  type SqlFunction,
  type SqlIsolation,
  type SqlRelation,
} from '../../ports/sql-databases.ts';

/** Empty: every row that the statement can reach is guarded by a policy on the tenant. */
export function isolationFaults(
  { role, relations, functions }: SqlIsolation,
  trustedFunctions: readonly string[] = [],
): readonly string[] {
  const faults: string[] = [];
  if (role.superuser)
    faults.push(`the role ${role.name} is a superuser (or may become one), who sees all rows`);
  if (role.bypassesRls)
    faults.push(`the role ${role.name} has BYPASSRLS (or may take it), so no policy holds for it`);
  faults.push(...relations.flatMap((relation) => relationFault(relation, role.name)));
  faults.push(...functions.flatMap((one) => functionFault(one, trustedFunctions)));
  return faults;
}

function relationFault(relation: SqlRelation, role: string): readonly string[] {
  const { name, kind } = relation;
  if (kind === 'table') return tableFault(relation, role);
  if (kind === 'sequence') return [];
  if (kind !== 'view') return [`the ${kind} ${name} has no row-level security`];
  return relation.securityInvoker
    ? []
    : [`the view ${name} reads with its owner's rights: ALTER VIEW ${name} SET (security_invoker = true)`];
}

function tableFault(relation: SqlRelation, role: string): readonly string[] {
  const { name } = relation;
  if (relation.ownedByRole)
    return [`the role ${role} owns the table ${name}, and could switch its policies off`];
  if (!relation.rowSecurity)
    return [`row-level security is off: ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY`];
  if (!relation.forced)
    return [`row-level security is not forced: ALTER TABLE ${name} FORCE ROW LEVEL SECURITY`];
  return policyFault(relation);
}

/** Permissive policies are joined by OR, restrictive ones by AND: one that lets all through is enough to leak. */
function policyFault({ name, policies }: SqlRelation): readonly string[] {
  const namesTenant = (expression: string) => expression.includes(`'${TENANT_SETTING}'`);
  const guarded = policies.some(
    ({ permissive, forAllCommands, expressions }) =>
      !permissive && forAllCommands && expressions.some(namesTenant),
  );
  if (guarded) return [];
  return policies
    .filter(({ permissive, expressions }) => permissive && !expressions.every(namesTenant))
    .map(
      (policy) =>
        `the policy ${policy.name} of ${name} does not compare with current_setting('${TENANT_SETTING}')`,
    );
}

function functionFault(
  { name, securityDefiner, opaque }: SqlFunction,
  trusted: readonly string[],
): readonly string[] {
  if (trusted.includes(name)) return [];
  if (securityDefiner) return [`the function ${name} runs with its owner's rights (SECURITY DEFINER)`];
  if (opaque) {
    return [
      `what the function ${name} reaches cannot be seen: write its body as BEGIN ATOMIC, or list it in trusted_functions`,
    ];
  }
  return [];
}
