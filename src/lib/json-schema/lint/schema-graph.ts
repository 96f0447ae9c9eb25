// A schema as a graph: its sub-schemas, and which look at the same value, at a member or at an item of it.
import { fromPointer, toPointer, type JsonPath } from '../../json/json-pointer.ts';

export interface SchemaNode {
  readonly schema: { readonly [keyword: string]: unknown };
  readonly path: JsonPath;
  /** Sub-schemas between this one and the root of the document. */
  readonly depth: number;
  /** Blocks around this one in Ajv's code, where each sub-schema encloses those that come after it. */
  readonly nesting: number;
  /** Sub-schemas directly inside, so far as they were walked. */
  children: number;
  /** Look at the same value: allOf, anyOf, if … and what $ref leads to. */
  readonly same: SchemaNode[];
  readonly members: PartLink[];
  readonly items: PartLink[];
}

/** A sub-schema for a part of the value. */
export interface PartLink {
  /** The part's name or index; `each` for every part; `rest` for those that this schema does not name. */
  readonly part: { readonly name: string } | 'each' | 'rest';
  readonly node: SchemaNode;
}

export interface SchemaProblem {
  readonly path: JsonPath;
  readonly message: string;
}

export interface GraphLimits {
  readonly depth: number;
  readonly nesting: number;
  readonly nodes: number;
}

/** How a keyword holds sub-schemas, and what they look at. */
interface Applicator {
  readonly holds: 'one' | 'list' | 'map' | 'one or list';
  readonly at: 'same' | 'members' | 'items' | 'nothing';
  readonly part?: 'each' | 'rest';
}

const APPLICATORS = new Map<string, Applicator>([
  ...['allOf', 'anyOf', 'oneOf'].map((name) => [name, { holds: 'list', at: 'same' }] as const),
  ...['not', 'if', 'then', 'else'].map((name) => [name, { holds: 'one', at: 'same' }] as const),
  ...['dependentSchemas', 'dependencies'].map((name) => [name, { holds: 'map', at: 'same' }] as const),
  ['properties', { holds: 'map', at: 'members' }],
  ['patternProperties', { holds: 'map', at: 'members', part: 'each' }],
  ['propertyNames', { holds: 'one', at: 'members', part: 'each' }],
  ['additionalProperties', { holds: 'one', at: 'members', part: 'rest' }],
  ['unevaluatedProperties', { holds: 'one', at: 'members', part: 'rest' }],
  ['prefixItems', { holds: 'list', at: 'items' }],
  ['items', { holds: 'one or list', at: 'items', part: 'rest' }],
  ['additionalItems', { holds: 'one', at: 'items', part: 'rest' }],
  ['unevaluatedItems', { holds: 'one', at: 'items', part: 'rest' }],
  ['contains', { holds: 'one', at: 'items', part: 'each' }],
  ...['$defs', 'definitions'].map((name) => [name, { holds: 'map', at: 'nothing' }] as const),
]);

export interface SchemaGraph {
  /** Every sub-schema, the root first. Not complete where `problems` is not empty. */
  readonly nodes: readonly SchemaNode[];
  /** Those that only a $ref makes a schema. */
  readonly strays: readonly SchemaNode[];
  readonly problems: readonly SchemaProblem[];
}

export function schemaGraph(root: object, limits: GraphLimits): SchemaGraph {
  const graph = new Graph(root, limits);
  graph.add(root, [], 0, 0);
  graph.walk();
  if (graph.problems.length === 0) graph.resolveRefs();
  return graph;
}

class Graph implements SchemaGraph {
  readonly nodes: SchemaNode[] = [];
  readonly strays: SchemaNode[] = [];
  readonly problems: SchemaProblem[] = [];
  readonly #root: object;
  readonly #limits: GraphLimits;
  /** Filled at the first reference: most schemas have none. */
  readonly #byPointer = new Map<string, SchemaNode>();
  #walked = 0;
  #count = 0;

  constructor(root: object, limits: GraphLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  /** Undefined for what is no schema object: a boolean schema, or a mistake that the meta-schema will name. */
  add(schema: unknown, path: JsonPath, depth: number, nesting: number): SchemaNode | undefined {
    if (this.problems.length > 0) return undefined;
    this.#count += 1;
    const { nodes, depth: maxDepth, nesting: maxNesting } = this.#limits;
    if (this.#count > nodes) this.problems.push({ path: [], message: `has more than ${nodes} sub-schemas` });
    if (depth > maxDepth)
      this.problems.push({ path, message: `is nested deeper than ${maxDepth} levels of sub-schemas` });
    if (nesting > maxNesting) {
      this.problems.push({
        path,
        message: `comes after more than ${maxNesting} sub-schemas beside it and around it`,
      });
    }
    if (this.problems.length > 0 || !isObject(schema)) return undefined;
    const node: SchemaNode = { schema, path, depth, nesting, children: 0, same: [], members: [], items: [] };
    this.nodes.push(node);
    if (this.#byPointer.size > 0) this.#byPointer.set(toPointer(path), node);
    return node;
  }

  walk(): void {
    for (let node = this.nodes[this.#walked]; node !== undefined; node = this.nodes[this.#walked]) {
      this.#walked += 1;
      for (const keyword of Object.keys(node.schema)) {
        const applicator = APPLICATORS.get(keyword);
        if (applicator !== undefined) this.#expand(node, keyword, applicator);
      }
    }
  }

  #expand(node: SchemaNode, keyword: string, { holds, at, part }: Applicator): void {
    const value = node.schema[keyword];
    const named = holds === 'map' ? isObject(value) : holds !== 'one' && Array.isArray(value);
    if (!named) {
      if (holds === 'one' || holds === 'one or list')
        this.#link(node, value, [...node.path, keyword], at, part ?? 'each');
      return;
    }
    const isArray = Array.isArray(value);
    for (const name of Object.keys(value as object)) {
      const step = isArray ? Number(name) : name;
      const which = part === 'each' ? part : { name };
      this.#link(
        node,
        (value as { [name: string]: unknown })[name],
        [...node.path, keyword, step],
        at,
        which,
      );
    }
  }

  #link(
    node: SchemaNode,
    schema: unknown,
    path: JsonPath,
    at: Applicator['at'],
    part: PartLink['part'],
  ): void {
    node.children += at === 'nothing' ? 0 : 1;
    const nesting = at === 'nothing' ? 0 : node.nesting + node.children;
    const child = this.add(schema, path, node.depth + 1, nesting);
    if (child === undefined || at === 'nothing') return;
    if (at === 'same') node.same.push(child);
    else node[at].push({ part, node: child });
  }

  /** A reference may lead to any place of the document, also to one that no keyword makes a schema: it is walked then. */
  resolveRefs(): void {
    for (let index = 0; index < this.nodes.length && this.problems.length === 0; index += 1) {
      const node = this.nodes[index];
      if (node?.schema['$ref'] === undefined) continue;
      if (this.#byPointer.size === 0)
        for (const each of this.nodes) this.#byPointer.set(toPointer(each.path), each);
      const target = this.#targetOf(node.schema['$ref']);
      if (target === undefined) {
        this.problems.push({
          path: [...node.path, '$ref'],
          message: 'must be # or #/… and lead to a schema of this document',
        });
      } else if (target !== true) node.same.push(target);
    }
  }

  /** True: a boolean schema. Undefined: no schema. */
  #targetOf(ref: unknown): SchemaNode | true | undefined {
    const path = pathOfRef(ref);
    if (path === undefined) return undefined;
    const pointer = toPointer(path);
    const known = this.#byPointer.get(pointer);
    if (known !== undefined) return known;
    let schema: unknown = this.#root;
    for (const step of path) {
      if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, step)) return undefined;
      schema = (schema as { [step: string]: unknown })[step];
    }
    if (typeof schema === 'boolean') return true;
    const node = this.add(schema, path, 1, 0);
    if (node === undefined) return undefined;
    this.strays.push(node);
    this.walk();
    return node;
  }
}

function pathOfRef(ref: unknown): string[] | undefined {
  if (typeof ref !== 'string' || (ref !== '#' && !ref.startsWith('#/'))) return undefined;
  try {
    return fromPointer(ref.slice(1).split('/').map(decodeURIComponent).join('/'));
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
