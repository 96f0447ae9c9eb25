// Places: what a schema says of each part of a value, whichever of its branches turn out to hold; made once, and asked per value.
import { schemaGraph, type PartLink, type SchemaNode } from './lint/schema-graph.ts';

type Schema = SchemaNode['schema'];

/** What the sub-schemas that look at one part of a value say together. */
export interface Place<Mark> {
  readonly mark: Mark;
  /** Undefined: nothing that counts there or below. */
  member(name: string): Place<Mark> | undefined;
  item(index: number): Place<Mark> | undefined;
}

export interface PlaceRules<Mark> {
  /** Whether a sub-schema counts: where none of them is reached there is no place. */
  counts(schema: Schema): boolean;
  mark(schemas: readonly Schema[]): Mark;
}

/** The schema must have passed lintSchema. Undefined: nothing counts in the whole of it. */
export function placesOf<Mark>(schema: object, rules: PlaceRules<Mark>): Place<Mark> | undefined {
  const { nodes } = schemaGraph(schema, NO_LIMITS);
  const [root] = nodes;
  return root && new Places(leadingNodes(nodes, rules), rules).of([root]);
}

const NO_LIMITS = { depth: Infinity, nesting: Infinity, nodes: Infinity };
/** Sub-schemas that look at one part, and sets of such: more are no schema of a person, and are not followed. */
const MOST_VIEWS = 500;
const MOST_PLACES = 2_000;

/** Sub-schemas from which one that counts is reached. */
function leadingNodes(nodes: readonly SchemaNode[], rules: PlaceRules<unknown>): ReadonlySet<SchemaNode> {
  const parents = new Map<SchemaNode, SchemaNode[]>();
  for (const node of nodes) {
    for (const child of [...node.same, ...partsOf(node).map((link) => link.node)]) {
      const known = parents.get(child);
      if (known === undefined) parents.set(child, [node]);
      else known.push(node);
    }
  }
  const leading = new Set(nodes.filter(({ schema }) => rules.counts(schema)));
  for (const node of leading) for (const parent of parents.get(node) ?? []) leading.add(parent);
  return leading;
}

function partsOf({ members, items }: SchemaNode): readonly PartLink[] {
  return [...members, ...items];
}

class Places<Mark> {
  readonly #leading: ReadonlySet<SchemaNode>;
  readonly #rules: PlaceRules<Mark>;
  readonly #numbers = new Map<SchemaNode, number>();
  readonly #known = new Map<string, Place<Mark> | undefined>();

  constructor(leading: ReadonlySet<SchemaNode>, rules: PlaceRules<Mark>) {
    this.#leading = leading;
    this.#rules = rules;
  }

  /** One for the same sub-schemas, however they were reached. */
  of(starts: readonly SchemaNode[]): Place<Mark> | undefined {
    const views = new Set(starts);
    for (const view of views) for (const same of view.same) views.add(same);
    if (views.size > MOST_VIEWS || ![...views].some((view) => this.#leading.has(view))) return undefined;
    const key = [...views].map((view) => this.#numberOf(view)).join();
    if (!this.#known.has(key) && this.#known.size < MOST_PLACES) this.#known.set(key, this.#make([...views]));
    return this.#known.get(key);
  }

  #make(views: readonly SchemaNode[]): Place<Mark> {
    return {
      mark: this.#rules.mark(views.map(({ schema }) => schema)),
      member: this.#parts(views, 'members'),
      item: this.#parts(views, 'items'),
    };
  }

  #parts(
    views: readonly SchemaNode[],
    kind: 'members' | 'items',
  ): (step: string | number) => Place<Mark> | undefined {
    const names = new Set(views.flatMap((view) => view[kind].map(({ part }) => nameOf(part))));
    const known = new Map<string, Place<Mark> | undefined>();
    return (step) => {
      const name = names.has(String(step)) ? String(step) : '';
      if (!known.has(name)) known.set(name, this.of(views.flatMap((view) => linked(view[kind], name))));
      return known.get(name);
    };
  }

  #numberOf(node: SchemaNode): number {
    const number = this.#numbers.get(node) ?? this.#numbers.size;
    this.#numbers.set(node, number);
    return number;
  }
}

/** Empty for a part that has none of its own; the empty name itself is treated so, and thus is no place. */
function nameOf(part: PartLink['part']): string {
  return typeof part === 'object' ? part.name : '';
}

function linked(links: readonly PartLink[], name: string): SchemaNode[] {
  const isNamed = name !== '' && links.some(({ part }) => nameOf(part) === name);
  return links
    .filter(({ part }) => part === 'each' || (part === 'rest' ? !isNamed : part.name === name))
    .map(({ node }) => node)
    .filter(({ path }) => path.at(-1) !== 'propertyNames');
}
