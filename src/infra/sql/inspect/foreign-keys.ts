// Foreign keys that change rows elsewhere (CASCADE, SET NULL, SET DEFAULT): the server does so as the owner of that table,
// and no policy is asked. What they change is followed, and whether it stays with the tenant is found out here.
import type { SqlForeignKey } from '../../../ports/egress/sql-databases.ts';
import type { CatalogKey, CatalogKeyPair, CatalogRelation, KeyAction } from './catalog.ts';
import { isExact, type Collations } from './exact-equality.ts';
import { readTree } from './node-tree.ts';
import { bindingOf, common } from './tenant-guard.ts';
import { addChange, relationsOfView, type Change, type Changes } from './tree-references.ts';

type Relations = ReadonlyMap<number, CatalogRelation>;

/** A key, and what it does to rows of its table when one it points at is changed. */
interface Crossing {
  readonly key: CatalogKey;
  readonly kind: Change;
}

/**
 * Carries changes on: from a view to what it reads, from a table to its children and to the tables that point at it.
 * `named`: what the statement reaches by itself, rather than as a part of something. Gives the tables behind keys.
 */
export function spreadChanges(
  changes: Changes,
  relations: Relations,
  named: ReadonlySet<number>,
): Set<number> {
  const behindKeys = new Set<number>();
  const open = [...changes].flatMap(([oid, kinds]) => [...kinds].map((kind) => ({ oid, kind })));
  const add = (oid: number, kind: Change) => {
    if (addChange(changes, oid, kind)) open.push({ oid, kind });
  };
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { oid, kind } = next;
    const relation = relations.get(oid);
    if (relation === undefined || relation.system) continue;
    for (const child of relation.children) add(child, kind);
    if (relation.kind === 'view')
      for (const tree of relation.onRead) for (const part of relationsOfView(readTree(tree))) add(part, kind);
    for (const { key, kind: set } of crossingsOf(relation, kind, named)) {
      behindKeys.add(key.table);
      add(key.table, set);
    }
  }
  return behindKeys;
}

/** What each key does, and whether it holds on to the tenant. */
export function foreignKeysOf(
  changes: Changes,
  relations: Relations,
  named: ReadonlySet<number>,
  loose: Collations,
): readonly SqlForeignKey[] {
  const parentsOf = new Map<number, number[]>();
  for (const { oid, children } of relations.values())
    for (const child of children) parentsOf.set(child, [...(parentsOf.get(child) ?? []), oid]);
  const tenantColumns = (oid: number): ReadonlySet<string> => {
    const relation = relations.get(oid);
    const parents = parentsOf.get(oid) ?? [];
    if (relation === undefined) return new Set();
    if (named.has(oid) || parents.length === 0) return columnsOf(relation, loose);
    return common(parents.map(tenantColumns));
  };
  return [...changes].flatMap(([from, kinds]) => {
    const relation = relations.get(from);
    if (relation === undefined) return [];
    return [...kinds].flatMap((kind) =>
      crossingsOf(relation, kind, named).map(({ key }) => ({
        name: key.name,
        table: relations.get(key.table)?.name ?? String(key.table),
        referenced: relation.name,
        action: actionOf(key, kind),
        holdsTenant: key.pairs.some(
          (pair) =>
            keeps(pair, key, kind) &&
            isExact(pair.operator, pair.collations, loose) &&
            tenantColumns(from).has(pair.referenced) &&
            tenantColumns(key.table).has(pair.column),
        ),
      })),
    );
  });
}

function crossingsOf(
  relation: CatalogRelation,
  kind: Change,
  named: ReadonlySet<number>,
): readonly Crossing[] {
  return (
    relation.keys
      .filter((key) => CHANGING.has(rawAction(key, kind)))
      // A partition has the keys of its table once more: they count where the partition is changed by its own name.
      .filter((key) => !key.inherited || named.has(relation.oid))
      .map((key) => ({
        key,
        kind: kind === 'delete' && key.onDelete === 'c' ? 'delete' : 'update',
      }))
  );
}

const CHANGING: ReadonlySet<KeyAction> = new Set(['c', 'n', 'd']);
const ACTIONS: Readonly<Partial<Record<KeyAction, string>>> = {
  c: 'CASCADE',
  n: 'SET NULL',
  d: 'SET DEFAULT',
};

function rawAction(key: CatalogKey, kind: Change): KeyAction {
  return kind === 'delete' ? key.onDelete : key.onUpdate;
}

function actionOf(key: CatalogKey, kind: Change): string {
  return `ON ${kind.toUpperCase()} ${ACTIONS[rawAction(key, kind)] ?? ''}`;
}

/** The column still says the same tenant afterwards. */
function keeps(pair: CatalogKeyPair, key: CatalogKey, kind: Change): boolean {
  return rawAction(key, kind) === 'c' || (kind === 'delete' && !pair.setOnDelete);
}

/** Columns that equal the tenant in all rows that the policies of the table let be changed. */
function columnsOf(
  { rowSecurity, policies, columns }: CatalogRelation,
  loose: Collations,
): ReadonlySet<string> {
  if (!rowSecurity) return new Set();
  const bound = (using: string | null) =>
    new Set(
      using === null
        ? []
        : [...bindingOf(readTree(using)[0], loose).columns].map((number) => columns[number] ?? ''),
    );
  const guards = policies.filter(({ permissive, forAllCommands }) => !permissive && forAllCommands);
  const permissive = policies.filter((policy) => policy.permissive && policy.using !== null);
  return guards
    .map(({ using }) => bound(using))
    .reduce(
      (found, more) => new Set([...found, ...more]),
      common(permissive.map(({ using }) => bound(using))),
    );
}
