// Reach: what a statement was found to reach so far, and what of that is still to be asked for.
import type { SqlFunction, SqlIsolation } from '../../../ports/egress/sql-databases.ts';
import type { CatalogAnswer, CatalogFunction, CatalogRelation, CatalogType } from './catalog.ts';
import type { Collations } from './exact-equality.ts';
import { foreignKeysOf, spreadChanges } from './foreign-keys.ts';
import { readTree } from './node-tree.ts';
import { functionOf, policiesOf, relationOf } from './reached.ts';
import {
  addFunction,
  addReferences,
  FIRST_OWN_OID,
  noReferences,
  type References,
} from './tree-references.ts';

/** Oids. */
export interface Wanted {
  readonly functions: readonly number[];
  readonly operators: readonly number[];
  readonly relations: readonly number[];
  readonly types: readonly number[];
}

/**
 * `calls`: what the statement itself calls. `reads`: all that runs with it. `writes`: also what a change of the tables that
 * it reaches sets off.
 */
export type Depth = 'calls' | 'reads' | 'writes';

/**
 * What turns a text into a value of these types reads no names that the database has, though it is not IMMUTABLE: it
 * depends on the time zone, or passes on to the types that the type consists of. Names of text search configurations and
 * dictionaries are read, and are nobody's secret.
 */
const PLAIN_INPUTS: ReadonlySet<string> = new Set(
  (
    'array_in record_in range_in multirange_in domain_in enum_in cash_in xml_in ' +
    'date_in time_in timetz_in timestamp_in timestamptz_in interval_in regconfigin regdictionaryin'
  ).split(' '),
);

export class Reach {
  readonly #depth: Depth;
  readonly #found = noReferences();
  /** Partitions, children, and tables that foreign keys change. */
  readonly #parts = new Set<number>();
  readonly #asked = {
    functions: new Set<number>(),
    operators: new Set<number>(),
    relations: new Set<number>(),
    types: new Set<number>(),
  };
  readonly #functions = new Map<number, CatalogFunction>();
  readonly #relations = new Map<number, CatalogRelation>();
  readonly #types = new Map<number, CatalogType>();
  /** Of functions that are said to be IMMUTABLE. */
  readonly #bodies = new Map<number, References>();

  constructor(tree: string, depth: Depth) {
    this.#depth = depth;
    this.#read([tree]);
  }

  /** What was found and not asked for yet; undefined: all is known. */
  next(): Wanted | undefined {
    this.#spread();
    const { functions, operators, relations, types, made } = this.#found;
    const isDeep = this.#depth !== 'calls';
    const asked = this.#asked;
    const wanted = {
      functions: take(functions.keys(), asked.functions),
      operators: take(operators, asked.operators),
      relations: isDeep ? take([...relations, ...this.#parts], asked.relations) : [],
      types: take(
        [...made, ...(isDeep ? [...types].filter((oid) => oid >= FIRST_OWN_OID) : [])],
        asked.types,
      ),
    };
    return Object.values(wanted).some(({ length }) => length > 0) ? wanted : undefined;
  }

  take({ functions, relations, types }: CatalogAnswer): void {
    for (const one of functions) this.#takeFunction(one);
    for (const one of relations) this.#takeRelation(one);
    for (const one of types) this.#takeType(one);
  }

  functions(): readonly SqlFunction[] {
    return [...this.#functions.values()].map((one) => functionOf(one, this.#found, this.#changingPart(one)));
  }

  /** What an IMMUTABLE function does that gives another answer to another tenant, or at another time. */
  #changingPart({ oid }: CatalogFunction): string | undefined {
    const body = this.#bodies.get(oid);
    if (body === undefined) return undefined;
    if (body.relations.size > 0) return 'reads tables';
    const called = [...body.functions.keys()].map((each) => this.#functions.get(each));
    const changing = called.find((each) => each !== undefined && each.volatility !== 'i');
    return changing === undefined ? undefined : `calls ${changing.name}`;
  }

  isolation(loose: Collations): Omit<SqlIsolation, 'role'> {
    const { relations: named, changes } = this.#found;
    const relations = [...this.#relations.values()];
    const forms = new Set(
      relations.flatMap((one) => policiesOf(one, loose).flatMap((policy) => policy.forms)),
    );
    return {
      relations: relations.map((one) =>
        relationOf(one, { loose, partOfAnother: !named.has(one.oid), writes: this.#writes }),
      ),
      foreignKeys: this.#writes ? foreignKeysOf(changes, this.#relations, named, loose) : [],
      tenantForms: [...forms],
    };
  }

  get #writes(): boolean {
    return this.#depth === 'writes';
  }

  #read(trees: readonly (string | null)[]): void {
    for (const tree of trees) if (tree !== null) addReferences(readTree(tree), this.#found);
  }

  /** A value of a type that consists of others is made of values of these. */
  #spread(): void {
    const { made, changes, relations } = this.#found;
    // A Set that grows while it is walked is walked to its end.
    for (const oid of made) {
      const type = this.#types.get(oid);
      if (type === undefined) continue;
      if (!PLAIN_INPUTS.has(type.input.name)) addFunction(this.#found, type.input.oid);
      for (const part of type.types) made.add(part);
    }
    if (!this.#writes) return;
    for (const table of spreadChanges(changes, this.#relations, relations)) this.#parts.add(table);
  }

  #takeFunction(one: CatalogFunction): void {
    this.#functions.set(one.oid, one);
    if (this.#depth === 'calls') return;
    if (one.body !== null && one.volatility === 'i') this.#bodies.set(one.oid, referencesOf(one.body));
    this.#read([one.body, one.defaults]);
    this.#addFunctions(one.parts);
    this.#addTypes(one.types);
  }

  #takeRelation(relation: CatalogRelation): void {
    this.#relations.set(relation.oid, relation);
    if (relation.system) return;
    for (const oid of relation.children) this.#parts.add(oid);
    this.#read(relation.onRead);
    this.#read(relation.policies.flatMap(({ using, check }) => [using, check]));
    if (!this.#writes) return;
    this.#read(relation.onWrite);
    this.#addFunctions(relation.triggers);
    this.#addTypes(relation.types);
  }

  #takeType(type: CatalogType): void {
    this.#types.set(type.oid, type);
    if (this.#depth === 'calls') return;
    this.#read(type.trees);
    this.#addFunctions(type.functions);
    this.#addTypes(type.types);
  }

  #addFunctions(oids: readonly number[]): void {
    for (const oid of oids) addFunction(this.#found, oid);
  }

  #addTypes(oids: readonly number[]): void {
    for (const oid of oids) this.#found.types.add(oid);
  }
}

function referencesOf(tree: string): References {
  const found = noReferences();
  addReferences(readTree(tree), found);
  return found;
}

/** Those that were not asked for; from now on they were. */
function take(oids: Iterable<number>, asked: Set<number>): number[] {
  const taken = [...new Set(oids)].filter((oid) => !asked.has(oid));
  for (const oid of taken) asked.add(oid);
  return taken;
}
