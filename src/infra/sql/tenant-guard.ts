// Whether an expression of a policy lets a row through only where a column of it equals the tenant of the transaction.
import { TENANT_SETTING } from '../../ports/sql-databases.ts';
import { constantOf, isNode, listOf, only, type TreeNode, type TreeValue } from './node-tree.ts';

/** Oids of PostgreSQL's own that never change. */
const CURRENT_SETTING: ReadonlySet<unknown> = new Set(['2077', '3294']);
const TEXTEQ = '67';
/** Operators from here on are of somebody's own making, and may call true what they like. */
const FIRST_OWN_OID = 16_384;

/** `isEquals`: whether an operator of PostgreSQL's own is one of its `=`. */
export type IsEquals = (operator: number) => boolean;

/** AND needs one part that binds, OR needs all; what is not understood binds nothing. */
export function bindsTenant(expression: TreeValue | undefined, isEquals: IsEquals): boolean {
  if (!isNode(expression)) return false;
  if (expression.tag === 'BOOLEXPR') {
    const parts = listOf(expression, 'args');
    const operator = only(expression, 'boolop');
    if (operator === 'and') return parts.some((part) => bindsTenant(part, isEquals));
    return operator === 'or' && parts.length > 0 && parts.every((part) => bindsTenant(part, isEquals));
  }
  if (expression.tag !== 'OPEXPR') return false;
  const operator = Number(only(expression, 'opno'));
  const [left, right] = listOf(expression, 'args');
  return (
    operator < FIRST_OWN_OID &&
    isEquals(operator) &&
    ((isColumn(left) && isTenant(right)) || (isTenant(left) && isColumn(right)))
  );
}

/** A column of the row that the policy is asked about, as it is or as another type. */
function isColumn(value: TreeValue | undefined): boolean {
  const inner = withoutCasts(value);
  return inner?.tag === 'VAR' && only(inner, 'varno') === '1' && only(inner, 'varlevelsup') === '0';
}

/** `current_setting(…)`, also in NULLIF(…, ''), in COALESCE with constants, or in a subquery of its own. */
function isTenant(value: TreeValue | undefined): boolean {
  const inner = withoutCasts(value);
  if (inner === undefined) return false;
  const args = listOf(inner, 'args');
  if (inner.tag === 'FUNCEXPR')
    return CURRENT_SETTING.has(only(inner, 'funcid')) && constantOf(args[0]) === TENANT_SETTING;
  if (inner.tag === 'NULLIFEXPR')
    return only(inner, 'opfuncid') === TEXTEQ && isTenant(args[0]) && constantOf(args[1]) === '';
  if (inner.tag === 'COALESCE' || inner.tag === 'COALESCEEXPR') {
    const [first, ...others] = args;
    return isTenant(first) && others.every((other) => constantOf(other) !== undefined);
  }
  return inner.tag === 'SUBLINK' && isTenant(selectedAlone(inner));
}

/** What `(SELECT expression)` selects, without tables or conditions. */
function selectedAlone(sublink: TreeNode): TreeValue | undefined {
  const query = only(sublink, 'subselect');
  if (only(sublink, 'subLinkType') !== '4' || !isNode(query)) return undefined;
  const from = only(query, 'jointree');
  const isBare =
    isNode(from) &&
    only(from, 'fromlist') === '<>' &&
    only(from, 'quals') === '<>' &&
    ['setOperations', 'limitOffset', 'limitCount', 'havingQual'].every(
      (field) => only(query, field) === '<>',
    );
  const [target, ...others] = listOf(query, 'targetList');
  return isBare && isNode(target) && others.length === 0 ? only(target, 'expr') : undefined;
}

/** Casts by function may cut a text off, so that two tenants become one: these stay. */
function withoutCasts(value: TreeValue | undefined): TreeNode | undefined {
  let inner = value;
  while (isNode(inner) && (inner.tag === 'RELABELTYPE' || inner.tag === 'COERCEVIAIO'))
    inner = only(inner, 'arg');
  return isNode(inner) ? inner : undefined;
}
