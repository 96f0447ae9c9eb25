// Follows a parsed statement through the catalog to all that runs when it does: functions, views, policies, triggers, types.
import type { ClientBase } from 'pg';
import type { SqlFunction, SqlPolicy, SqlRelation } from '../../ports/sql-databases.ts';
import {
  CATALOG_QUERY,
  EQUALS_QUERY,
  type CatalogAnswer,
  type CatalogFunction,
  type CatalogPolicy,
  type CatalogRelation,
} from './catalog-query.ts';
import { readTree } from './node-tree.ts';
import { bindsTenant, type IsEquals } from './tenant-guard.ts';
import { addFunction, addReferences, noReferences, type References } from './tree-references.ts';
import { Unfit } from './unfit.ts';

/** Of somebody's own making; what comes with PostgreSQL is judged by its name, and not followed. */
const FIRST_OWN_OID = 16_384;

export interface Followed {
  readonly functions: readonly SqlFunction[];
  readonly relations: readonly SqlRelation[];
}

/** What the statement itself calls, and no further. */
export async function calledBy(client: ClientBase, tree: string): Promise<readonly SqlFunction[]> {
  const found = noReferences();
  addReferences(readTree(tree), found);
  const { functions } = await ask(client, { ...found, relations: new Set(), types: new Set() });
  return functions.map((one) => functionOf(one, found));
}

/** `writes`: triggers, defaults, checks and indexes of the tables are followed too. */
export async function follow(client: ClientBase, tree: string, writes: boolean): Promise<Followed> {
  const { rows } = await client.query<{ oid: number }>(EQUALS_QUERY);
  const equals = new Set(rows.map(({ oid }) => oid));
  const walk = new Walk(writes, (operator) => equals.has(operator));
  walk.read([tree]);
  for (let next = walk.next(); next !== undefined; next = walk.next()) walk.take(await ask(client, next));
  return walk.result();
}

async function ask(client: ClientBase, { functions, ...rest }: References): Promise<CatalogAnswer> {
  const { rows } = await client.query<{ found: CatalogAnswer }>(CATALOG_QUERY, [
    [...functions.keys()],
    [...rest.operators],
    [...rest.relations],
    [...rest.types],
  ]);
  const found = rows[0]?.found;
  if (found === undefined) throw new Unfit('The server did not say what the statement reaches.');
  return found;
}

class Walk {
  readonly #writes: boolean;
  readonly #isEquals: IsEquals;
  readonly #found = noReferences();
  readonly #asked = noReferences();
  readonly #children = new Set<number>();
  readonly #functions = new Map<number, CatalogFunction>();
  readonly #relations = new Map<number, CatalogRelation>();

  constructor(writes: boolean, isEquals: IsEquals) {
    this.#writes = writes;
    this.#isEquals = isEquals;
  }

  read(trees: readonly (string | null)[]): void {
    for (const tree of trees) if (tree !== null) addReferences(readTree(tree), this.#found);
  }

  /** What was found and not asked for yet; undefined: all is known. */
  next(): References | undefined {
    const found = this.#found;
    const asked = this.#asked;
    const functions = new Map([...found.functions].filter(([oid]) => !asked.functions.has(oid)));
    const operators = without(found.operators, asked.operators);
    const relations = without([...found.relations, ...this.#children], asked.relations);
    const types = new Set([...found.types].filter((oid) => oid >= FIRST_OWN_OID && !asked.types.has(oid)));
    for (const oid of functions.keys()) asked.functions.set(oid, []);
    for (const oid of operators) asked.operators.add(oid);
    for (const oid of relations) asked.relations.add(oid);
    for (const oid of types) asked.types.add(oid);
    if (functions.size + operators.size + relations.size + types.size === 0) return undefined;
    return { functions, operators, relations, types };
  }

  take({ functions, relations, types }: CatalogAnswer): void {
    for (const one of functions) {
      this.#functions.set(one.oid, one);
      this.read([one.body, one.defaults]);
      this.#addFunctions(one.parts);
      this.#addTypes(one.types);
    }
    for (const one of relations) this.#takeRelation(one);
    for (const one of types) {
      this.read(one.trees);
      this.#addFunctions(one.functions);
      this.#addTypes(one.types);
    }
  }

  result(): Followed {
    return {
      functions: [...this.#functions.values()].map((one) => functionOf(one, this.#found)),
      relations: [...this.#relations.values()].map((one) => this.#relationOf(one)),
    };
  }

  #takeRelation(relation: CatalogRelation): void {
    this.#relations.set(relation.oid, relation);
    if (relation.system) return;
    for (const oid of relation.children) this.#children.add(oid);
    this.read(relation.onRead);
    this.read(relation.policies.flatMap(({ using, check }) => [using, check]));
    if (!this.#writes) return;
    this.read(relation.onWrite);
    this.#addFunctions(relation.triggers);
    this.#addTypes(relation.types);
  }

  #addFunctions(oids: readonly number[]): void {
    for (const oid of oids) addFunction(this.#found, oid);
  }

  #addTypes(oids: readonly number[]): void {
    for (const oid of oids) this.#found.types.add(oid);
  }

  #relationOf(relation: CatalogRelation): SqlRelation {
    const { name, kind, system, ownedByRole, securityInvoker, rowSecurity, forced, rules } = relation;
    const partOfAnother = !this.#found.relations.has(relation.oid);
    const policies = relation.policies.map((policy) => policyOf(policy, this.#isEquals));
    return {
      name,
      kind,
      system,
      partOfAnother,
      ownedByRole,
      securityInvoker,
      rowSecurity,
      forced,
      policies,
      rules: this.#writes ? rules : [],
    };
  }
}

function policyOf(policy: CatalogPolicy, isEquals: IsEquals): SqlPolicy {
  const { name, permissive, forAllCommands, using, check } = policy;
  const binds = (tree: string) => bindsTenant(readTree(tree)[0], isEquals);
  return {
    name,
    permissive,
    forAllCommands,
    ...(using === null ? {} : { usingBindsTenant: binds(using) }),
    ...(check === null ? {} : { checkBindsTenant: binds(check) }),
  };
}

function without(oids: Iterable<number>, known: ReadonlySet<number>): Set<number> {
  return new Set([...oids].filter((oid) => !known.has(oid)));
}

const VOLATILITIES = { i: 'immutable', s: 'stable', v: 'volatile' } as const;

function functionOf(found: CatalogFunction, references: References): SqlFunction {
  const { oid, name, plainName, builtin, volatility, language, securityDefiner, settings, extension } = found;
  const isAggregate = found.parts.length > 0;
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
    firstArguments: references.functions.get(oid) ?? [undefined],
  };
}

/** Compiled code: no body that could be read. */
const NATIVE: ReadonlySet<string> = new Set(['internal', 'c']);
