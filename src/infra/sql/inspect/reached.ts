// What was found in the catalog, as the rules on tenants and functions see it.
import type { SqlFunction, SqlPolicy, SqlRelation, TenantForm } from '../../../ports/egress/sql-databases.ts';
import type { CatalogFunction, CatalogPolicy, CatalogRelation } from './catalog.ts';
import type { Collations } from './exact-equality.ts';
import { readTree } from './node-tree.ts';
import { bindingOf } from './tenant-guard.ts';
import type { References } from './tree-references.ts';

const VOLATILITIES = { i: 'immutable', s: 'stable', v: 'volatile' } as const;

/** Compiled code: no body that could be read. */
const NATIVE: ReadonlySet<string> = new Set(['internal', 'c']);

export function functionOf(
  found: CatalogFunction,
  references: References,
  changingPart: string | undefined,
): SqlFunction {
  const { oid, name, plainName, builtin, volatility, language, securityDefiner, settings, extension } = found;
  const isAggregate = found.parts.length > 0;
  const calls = references.functions.get(oid) ?? [];
  return {
    name,
    plainName,
    builtin,
    language: isAggregate ? 'aggregate' : language,
    securityDefiner,
    settings,
    volatility: VOLATILITIES[volatility],
    ...(extension === null ? {} : { extension }),
    opaque: !builtin && found.body === null && !isAggregate && !NATIVE.has(language),
    ...(changingPart === undefined ? {} : { changingPart }),
    foldable: calls.some((call) => call.foldable),
    firstArguments: calls.length === 0 ? [undefined] : calls.map(({ firstArgument }) => firstArgument),
  };
}

interface Place {
  readonly loose: Collations;
  readonly partOfAnother: boolean;
  readonly writes: boolean;
}

export function relationOf(relation: CatalogRelation, { loose, partOfAnother, writes }: Place): SqlRelation {
  const { name, kind, system, ownedByRole, securityInvoker, rowSecurity, forced, rules } = relation;
  return {
    name,
    kind,
    system,
    partOfAnother,
    ownedByRole,
    securityInvoker,
    rowSecurity,
    forced,
    policies: policiesOf(relation, loose).map(({ policy }) => policy),
    rules: writes ? rules : [],
  };
}

export function policiesOf({ policies }: CatalogRelation, loose: Collations) {
  return policies.map((policy) => judged(policy, loose));
}

function judged(
  { name, permissive, forAllCommands, using, check }: CatalogPolicy,
  loose: Collations,
): { readonly policy: SqlPolicy; readonly forms: readonly TenantForm[] } {
  const binding = (tree: string | null) => (tree === null ? undefined : bindingOf(readTree(tree)[0], loose));
  const [bound, checked] = [binding(using), binding(check)];
  const inexact = bound?.inexact ?? checked?.inexact;
  const policy = {
    name,
    permissive,
    forAllCommands,
    ...(bound === undefined ? {} : { usingBindsTenant: bound.binds }),
    ...(checked === undefined ? {} : { checkBindsTenant: checked.binds }),
    ...(inexact === undefined ? {} : { inexact }),
  };
  return { policy, forms: [...(bound?.forms ?? []), ...(checked?.forms ?? [])] };
}
