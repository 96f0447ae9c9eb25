// Where in a value a schema expects an integer of format int64: there, and only there, text of digits stands for a number.
import { int64Of } from '../json/int64.ts';
import { toPointer } from '../json/json-pointer.ts';
import { isInt64, takesText } from './int64-schema.ts';
import { schemaGraph, type PartLink, type SchemaNode } from './lint/schema-graph.ts';

/** Text at such a place, and where to put something else in its stead. */
export interface Int64Text {
  readonly text: string;
  readonly pointer: () => string;
  readonly put: (instead: unknown) => void;
}

export interface Int64Places {
  /** Every integer that stands as text, in digits as JSON writes them, at a place that is only for int64. */
  textsIn(value: unknown): readonly Int64Text[];
  /** Whether the value as a whole is such a place. */
  readonly isWhole: boolean;
}

/** The schema must have passed lintSchema. Undefined: it has no such place. */
export function int64PlacesOf(schema: object): Int64Places | undefined {
  if (!JSON.stringify(schema).includes('"int64"')) return undefined;
  const { nodes } = schemaGraph(schema, NO_LIMITS);
  const leading = leadingNodes(nodes);
  const [root] = nodes;
  if (root === undefined || !leading.has(root)) return undefined;
  const places = new Places(leading);
  const start = places.of([root]);
  if (start === undefined) return undefined;
  return { textsIn: (value) => (isContainer(value) ? found(value, start) : []), isWhole: start.isInt64 };
}

/**
 * For a check: integers beyond 2^53 as BigInt, smaller ones as numbers, in the value itself. `giveBack` makes them text
 * again, all of them or, with `keepsNumbers`, those that no double holds.
 */
export function takeIntegers(
  places: Int64Places,
  value: unknown,
  keepsNumbers: boolean,
): { readonly value: unknown; readonly giveBack: () => void } {
  if (typeof value === 'string')
    return { value: places.isWhole && int64Of(value) !== undefined ? numberOf(value) : value, giveBack() {} };
  const texts = places.textsIn(value);
  for (const { text, put } of texts) put(numberOf(text));
  const giveBack = (): void => {
    for (const { text, put } of texts) if (!keepsNumbers || !isSafe(text)) put(text);
  };
  return { value, giveBack };
}

function numberOf(text: string): number | bigint {
  return isSafe(text) ? Number(text) : BigInt(text);
}

function isSafe(text: string): boolean {
  return Number.isSafeInteger(Number(text));
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const NO_LIMITS = { depth: Infinity, nesting: Infinity, nodes: Infinity };
/** Sub-schemas that look at one part, and sets of such: more are no schema of a person, and are not followed. */
const MOST_VIEWS = 500;
const MOST_PLACES = 2_000;

/** Sub-schemas from which one of int64 is reached. */
function leadingNodes(nodes: readonly SchemaNode[]): ReadonlySet<SchemaNode> {
  const parents = new Map<SchemaNode, SchemaNode[]>();
  for (const node of nodes) {
    for (const child of [...node.same, ...partsOf(node).map((link) => link.node)]) {
      const known = parents.get(child);
      if (known === undefined) parents.set(child, [node]);
      else known.push(node);
    }
  }
  const leading = new Set(nodes.filter(({ schema }) => isInt64(schema)));
  for (const node of leading) for (const parent of parents.get(node) ?? []) leading.add(parent);
  return leading;
}

function partsOf({ members, items }: SchemaNode): readonly PartLink[] {
  return [...members, ...items];
}

/** The sub-schemas that look at one part of a value, whichever of them turn out to hold. */
interface Place {
  readonly isInt64: boolean;
  member(name: string): Place | undefined;
  item(index: number): Place | undefined;
}

class Places {
  readonly #leading: ReadonlySet<SchemaNode>;
  readonly #numbers = new Map<SchemaNode, number>();
  readonly #known = new Map<string, Place | undefined>();

  constructor(leading: ReadonlySet<SchemaNode>) {
    this.#leading = leading;
  }

  /** Undefined: nothing of int64 there or below. One for the same sub-schemas, however they were reached. */
  of(starts: readonly SchemaNode[]): Place | undefined {
    const views = new Set(starts);
    for (const view of views) for (const same of view.same) views.add(same);
    if (views.size > MOST_VIEWS || ![...views].some((view) => this.#leading.has(view))) return undefined;
    const key = [...views].map((view) => this.#numberOf(view)).join();
    if (!this.#known.has(key) && this.#known.size < MOST_PLACES) this.#known.set(key, this.#make([...views]));
    return this.#known.get(key);
  }

  #make(views: readonly SchemaNode[]): Place {
    return {
      isInt64: views.some(({ schema }) => isInt64(schema)) && !views.some(({ schema }) => takesText(schema)),
      member: this.#parts(views, 'members'),
      item: this.#parts(views, 'items'),
    };
  }

  #parts(
    views: readonly SchemaNode[],
    kind: 'members' | 'items',
  ): (step: string | number) => Place | undefined {
    const names = new Set(views.flatMap((view) => view[kind].map(({ part }) => nameOf(part))));
    const known = new Map<string, Place | undefined>();
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

/** Empty for a part that has none of its own; the empty name itself is treated so, and thus not taken for int64. */
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

function found(root: object, start: Place): Int64Text[] {
  const texts: Int64Text[] = [];
  const path: (string | number)[] = [];
  const into = (container: object, place: Place): void => {
    const isArray = Array.isArray(container);
    const members = container as { [step: string | number]: unknown };
    for (const key of Object.keys(container)) {
      const step = isArray ? Number(key) : key;
      const part = isArray ? place.item(Number(key)) : place.member(key);
      if (part === undefined) continue;
      const value = members[step];
      path.push(step);
      if (typeof value === 'string' && part.isInt64 && int64Of(value) !== undefined) {
        const at = [...path];
        const put = (instead: unknown): void => void (members[step] = instead);
        texts.push({ text: value, pointer: () => toPointer(at), put });
      } else if (typeof value === 'object' && value !== null) into(value, part);
      path.pop();
    }
  };
  into(root, start);
  return texts;
}
