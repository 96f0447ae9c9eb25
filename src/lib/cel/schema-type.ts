// A JSON Schema as a CEL type, and JSON values as CEL values: integers are ints where the schema says integer, and only there.
import { int64Of } from '../json/int64.ts';
import { DYN, type CelKind, type CelType } from './cel-type.ts';

type Schema = Readonly<Record<string, unknown>>;
type JsonType = 'integer' | 'number' | 'string' | 'boolean' | 'null' | 'array' | 'object';

const ALL: ReadonlySet<JsonType> = new Set([
  'integer',
  'number',
  'string',
  'boolean',
  'null',
  'array',
  'object',
]);
const KINDS: Readonly<Record<JsonType, CelKind>> = {
  integer: 'int',
  number: 'double',
  string: 'string',
  boolean: 'bool',
  null: 'null',
  array: 'list',
  object: 'map',
};
/** Beyond so many references and alternatives nothing is said of a value: it is dyn. */
const MOST_HOPS = 8;
const LEAST_INT = -(2n ** 63n);
const LARGEST_INT = 2n ** 63n - 1n;

/** A number that CEL's 64 bits do not hold: nothing is decided about it. */
export class IntRangeError extends Error {
  constructor() {
    super('an integer of the arguments has more than 64 bits');
  }
}

/** One place of a schema. Parts are made once, when they are first looked at. */
export class SchemaType implements CelType {
  readonly kind: CelKind;
  readonly names: readonly string[];
  readonly #root: Schema;
  readonly #views: readonly Schema[];
  readonly #types: ReadonlySet<JsonType>;
  readonly #fields = new Map<string, SchemaType>();
  #item: SchemaType | undefined;
  #rest: SchemaType | undefined;

  constructor(schema: unknown, root: Schema) {
    this.#root = root;
    this.#views = viewsOf(schema, root, MOST_HOPS);
    this.#types = typesOf(schema, root, MOST_HOPS);
    this.kind = kindOf(this.#types);
    this.names = this.#views.flatMap(({ properties }) =>
      isSchema(properties) ? Object.keys(properties) : [],
    );
  }

  item(): SchemaType {
    this.#item ??= new SchemaType(this.#partOf('items') ?? true, this.#root);
    return this.#item;
  }

  /** Undefined where the schema is closed and has no such field. */
  field(name: string): SchemaType | undefined {
    const known = this.#fields.get(name);
    if (known !== undefined) return known;
    const declared = this.#views.flatMap(({ properties }) =>
      isSchema(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [],
    );
    if (declared.length === 0 && this.#isClosed()) return undefined;
    if (declared.length === 0) return (this.#rest ??= new SchemaType(this.#others(), this.#root));
    const made = new SchemaType(declared.length > 1 ? { allOf: declared } : declared[0], this.#root);
    this.#fields.set(name, made);
    return made;
  }

  /** The value as CEL takes it. Throws IntRangeError. */
  bind(value: unknown): unknown {
    if (typeof value === 'number')
      return this.#isInt() && Number.isInteger(value) ? inRange(BigInt(value)) : value;
    if (typeof value === 'string')
      return this.#isInt() && !this.#types.has('string') ? (int64Of(value) ?? value) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((each: unknown) => this.item().bind(each));
    const fields = new Map<string, unknown>();
    for (const [name, each] of Object.entries(value)) fields.set(name, (this.field(name) ?? ANY).bind(each));
    return fields;
  }

  #isInt(): boolean {
    return this.#types.has('integer') && !this.#types.has('number');
  }

  #isClosed(): boolean {
    return this.#views.some(
      (view) =>
        (view['additionalProperties'] === false || view['unevaluatedProperties'] === false) &&
        view['patternProperties'] === undefined &&
        !ALTERNATIVES.some((word) => view[word] !== undefined),
    );
  }

  #others(): unknown {
    const hasPatterns = this.#views.some((view) => view['patternProperties'] !== undefined);
    const others = this.#partOf('additionalProperties');
    return hasPatterns || others === false ? true : (others ?? true);
  }

  #partOf(word: string): unknown {
    return this.#views.find((view) => view[word] !== undefined)?.[word];
  }
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'if', 'dependentSchemas', '$dynamicRef'];

const ANY = new SchemaType(true, {});

function kindOf(types: ReadonlySet<JsonType>): CelKind {
  const said = [...types].filter((type) => type !== 'null');
  if (types.has('number') && said.every((type) => type === 'number' || type === 'integer')) return 'double';
  const [only, ...others] = said;
  if (only === undefined) return types.has('null') ? 'null' : 'dyn';
  return others.length > 0 ? DYN.kind : KINDS[only];
}

/** The types that a value may have, as far as `type`, `const`, `enum` and their combinations say. */
function typesOf(schema: unknown, root: Schema, hops: number): ReadonlySet<JsonType> {
  if (!isSchema(schema) || hops === 0) return ALL;
  let types: ReadonlySet<JsonType> = ALL;
  const narrow = (to: Iterable<JsonType>) => {
    const other = new Set(to);
    if (other.has('number')) other.add('integer');
    types = new Set([...types].filter((type) => other.has(type)));
  };
  const { type, enum: words, $ref } = schema;
  if (typeof type === 'string' || Array.isArray(type)) narrow([type].flat() as JsonType[]);
  if (Array.isArray(words)) narrow(words.map(typeOf));
  if (schema['const'] !== undefined) narrow([typeOf(schema['const'])]);
  if (typeof $ref === 'string') narrow(typesOf(lookUp($ref, root), root, hops - 1));
  for (const each of listIn(schema, 'allOf')) narrow(typesOf(each, root, hops - 1));
  for (const word of ['anyOf', 'oneOf']) {
    const branches = listIn(schema, word);
    if (branches.length > 0) narrow(branches.flatMap((each) => [...typesOf(each, root, hops - 1)]));
  }
  return types;
}

/** All schemas that hold for the value at once: itself, what it refers to, what allOf adds, and the one of several that is no null. */
function viewsOf(schema: unknown, root: Schema, hops: number): readonly Schema[] {
  if (!isSchema(schema) || hops === 0) return [];
  const { $ref } = schema;
  const more = [...listIn(schema, 'allOf'), ...onlyAlternative(schema)];
  if (typeof $ref === 'string') more.push(lookUp($ref, root));
  return [schema, ...more.flatMap((each) => viewsOf(each, root, hops - 1))];
}

function onlyAlternative(schema: Schema): unknown[] {
  const branches = [...listIn(schema, 'anyOf'), ...listIn(schema, 'oneOf')];
  const said = branches.filter((each) => !(isSchema(each) && each['type'] === 'null'));
  return said.length === 1 ? said : [];
}

function lookUp(ref: string, root: Schema): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return true;
  let at: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return true;
    at = (at as Schema)[name];
  }
  return at;
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as JsonType;
}

function listIn(schema: Schema, word: string): readonly unknown[] {
  const list = schema[word];
  return Array.isArray(list) ? (list as unknown[]) : [];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inRange(value: bigint): bigint {
  if (value < LEAST_INT || value > LARGEST_INT) throw new IntRangeError();
  return value;
}
