// Which columns of a row equal the tenant of the transaction, in every row that an expression of a policy lets through.
import { TENANT_SETTING, type TenantForm } from '../../../ports/egress/sql-databases.ts';
import { constantOf, isNode, listOf, only, type TreeNode, type TreeValue } from './node-tree.ts';
import { isExact, type Collations } from './exact-equality.ts';

/** Oids of PostgreSQL's own that never change. */
const CURRENT_SETTING: ReadonlySet<unknown> = new Set(['2077', '3294']);
const TEXTEQ = '67';
const ENUM_EQUALS = 3516;
const TEXTS: ReadonlySet<unknown> = new Set(['25', '1043']);
/** The value stays as it is; under which collation it is compared, the comparison says. */
const LABELS: ReadonlySet<string> = new Set(['RELABELTYPE', 'COLLATE', 'COLLATEEXPR']);
/** What the text of a tenant may be read as: other texts mean the same value there, and have to be kept out of calls. */
const FORMS: ReadonlyMap<unknown, TenantForm> = new Map([
  ['2950', 'uuid'],
  ['20', 'integer'],
  ['21', 'integer'],
  ['23', 'integer'],
]);

export interface TenantBinding {
  readonly binds: boolean;
  /** Numbers of columns that equal the tenant; none where branches of an OR compare different ones. */
  readonly columns: ReadonlySet<string>;
  readonly forms: ReadonlySet<TenantForm>;
  /** Why a comparison with the tenant does not count. */
  readonly inexact?: string;
}

const UNBOUND: TenantBinding = { binds: false, columns: new Set(), forms: new Set() };

/** AND needs one part that binds, OR needs all; what is not understood binds nothing. */
export function bindingOf(expression: TreeValue | undefined, loose: Collations): TenantBinding {
  if (!isNode(expression)) return UNBOUND;
  if (expression.tag === 'OPEXPR') return comparison(expression, loose);
  if (expression.tag !== 'BOOLEXPR') return UNBOUND;
  const operator = only(expression, 'boolop');
  const parts = listOf(expression, 'args').map((part) => bindingOf(part, loose));
  if (operator === 'and') return joined(strictest(parts), 'union');
  if (operator !== 'or') return UNBOUND;
  return joined(parts, 'intersection');
}

/** Those that are enough: a comparison that asks nothing of how the tenant is written, if there is one. */
function strictest(parts: readonly TenantBinding[]): readonly TenantBinding[] {
  const binding = parts.filter(({ binds }) => binds);
  if (binding.length === 0) return parts;
  const plain = binding.filter(({ forms }) => forms.size === 0);
  return plain.length > 0 ? plain : binding;
}

function joined(parts: readonly TenantBinding[], how: 'union' | 'intersection'): TenantBinding {
  const inexact = parts.find((part) => part.inexact !== undefined)?.inexact;
  if (parts.length === 0 || !parts.every(({ binds }) => binds))
    return { ...UNBOUND, ...(inexact === undefined ? {} : { inexact }) };
  const sets = parts.map(({ columns }) => columns);
  const columns = how === 'union' ? new Set(sets.flatMap((set) => [...set])) : common(sets);
  return { binds: true, columns, forms: new Set(parts.flatMap(({ forms }) => [...forms])) };
}

export function common(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  const [first = new Set<string>(), ...others] = sets;
  return new Set([...first].filter((item) => others.every((other) => other.has(item))));
}

function comparison(node: TreeNode, loose: Collations): TenantBinding {
  const [left, right] = listOf(node, 'args');
  const operator = Number(only(node, 'opno'));
  const column = columnOf(left) ?? columnOf(right);
  const forms = new Set<TenantForm>();
  const tenant = columnOf(left) === undefined ? left : right;
  const isTenantsOwn = isTenant(tenant, forms) || (operator === ENUM_EQUALS && isEnumOfTenant(tenant));
  const collation = Number(only(node, 'inputcollid'));
  if (column !== undefined && isTenantsOwn && isExact(operator, [collation], loose))
    return { binds: true, columns: new Set([column]), forms };
  const inexact = looksLikeIt(left, right) ? looseness(collation, loose) : undefined;
  return { ...UNBOUND, ...(inexact === undefined ? {} : { inexact }) };
}

/** The number of the column of the row that the policy is asked about: as it is, or written out as a text. */
function columnOf(value: TreeValue | undefined): string | undefined {
  let inner = value;
  while (isNode(inner) && (LABELS.has(inner.tag) || isWrittenOut(inner))) inner = only(inner, 'arg');
  if (!isNode(inner) || inner.tag !== 'VAR') return undefined;
  const isOwn = only(inner, 'varno') === '1' && only(inner, 'varlevelsup') === '0';
  const number = only(inner, 'varattno');
  return isOwn && typeof number === 'string' && Number(number) > 0 ? number : undefined;
}

/** Read the other way, from a text, two columns could become one value. */
function isWrittenOut(node: TreeNode): boolean {
  return node.tag === 'COERCEVIAIO' && TEXTS.has(only(node, 'resulttype'));
}

/** `current_setting(…)`, also in NULLIF(…, ''), in COALESCE with constants, or in a subquery of its own. */
function isTenant(value: TreeValue | undefined, forms: Set<TenantForm>): boolean {
  const inner = uncast(value, forms);
  if (inner === undefined) return false;
  const args = listOf(inner, 'args');
  if (inner.tag === 'FUNCEXPR')
    return CURRENT_SETTING.has(only(inner, 'funcid')) && constantOf(args[0]) === TENANT_SETTING;
  if (inner.tag === 'NULLIFEXPR')
    return only(inner, 'opfuncid') === TEXTEQ && isTenant(args[0], forms) && constantOf(args[1]) === '';
  if (inner.tag === 'COALESCE' || inner.tag === 'COALESCEEXPR') {
    const [first, ...others] = args;
    return isTenant(first, forms) && others.every((other) => constantOf(other) !== undefined);
  }
  return inner.tag === 'SUBLINK' && isTenant(selectedAlone(inner), forms);
}

/** Labels of an enum are texts that are either the same or different. */
function isEnumOfTenant(value: TreeValue | undefined): boolean {
  return isNode(value) && value.tag === 'COERCEVIAIO' && isTenant(only(value, 'arg'), new Set());
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

/** Casts by function may cut a text off, so that two tenants become one: these stay, as all that are not known to keep it. */
function uncast(value: TreeValue | undefined, forms: Set<TenantForm>): TreeNode | undefined {
  let inner = value;
  while (isNode(inner)) {
    if (inner.tag === 'COERCEVIAIO') {
      const type = only(inner, 'resulttype');
      const form = FORMS.get(type);
      if (form !== undefined) forms.add(form);
      else if (!TEXTS.has(type)) return undefined;
    } else if (!LABELS.has(inner.tag)) return inner;
    inner = only(inner, 'arg');
  }
  return undefined;
}

/** A column and the tenant under casts of any kind: what was meant is clear, but it is not exact. */
function looksLikeIt(left: TreeValue | undefined, right: TreeValue | undefined): boolean {
  const [a, b] = [looselyUncast(left), looselyUncast(right)];
  const isColumn = (value: TreeValue | undefined) => columnOf(value) !== undefined;
  return (isColumn(a) && isTenant(b, new Set())) || (isTenant(a, new Set()) && isColumn(b));
}

const CASTS: ReadonlySet<string> = new Set([...LABELS, 'COERCEVIAIO', 'COERCETODOMAIN']);

function looselyUncast(value: TreeValue | undefined): TreeValue | undefined {
  let inner = value;
  while (isNode(inner)) {
    const isFunction = inner.tag === 'FUNCEXPR' && only(inner, 'funcformat') !== '0';
    if (!isFunction && !CASTS.has(inner.tag)) return inner;
    inner = isFunction ? listOf(inner, 'args')[0] : only(inner, 'arg');
  }
  return inner;
}

function looseness(collation: number, loose: Collations): string {
  const name = loose.get(collation);
  return name === undefined
    ? 'its comparison with the tenant is not exact, as values that differ may be equal there: compare as text, uuid, an integer or an enum, and without other casts'
    : `it compares with the tenant under the collation ${name}, where texts that differ may be equal: write COLLATE "C" behind the column`;
}
