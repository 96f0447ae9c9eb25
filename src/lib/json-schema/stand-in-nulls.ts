// Stand-in nulls: OpenAI's strict mode has no absent argument, only null. Here null becomes absent again.
import { isDeepStrictEqual } from 'node:util';
import { namedProperties, schemaAt } from './named-properties.ts';

type Members = { readonly [name: string]: unknown };

/** References to references, and alternatives inside alternatives: a circle of them ends here. */
const MAX_NESTING = 8;

/**
 * The value without the nulls that stand for an optional property whose own schema has no null. Of alternatives, the one that
 * the value was written for says which these are. The same object where there are none.
 */
export function dropStandInNulls<Value>(value: Value, schema: object): Value {
  return new StandIns(schema as Members).clean(value, [schema]) as Value;
}

class StandIns {
  readonly #root: Members;
  /** What was found of a part of the value, by sub-schema: alternatives look at the same parts again and again. */
  readonly #found = new Map<object, Map<object, boolean>>();

  constructor(root: Members) {
    this.#root = root;
  }

  /** `schemas`: all that speak about the value. A null goes only if none of them requires or allows it. */
  clean(value: unknown, schemas: readonly unknown[]): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const views = schemas.flatMap((schema) => this.#viewsOf(schema, value));
    if (Array.isArray(value)) {
      const items = value.map((item: unknown, index) =>
        this.clean(
          item,
          views.flatMap((view) => itemSchemas(view, index)),
        ),
      );
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    let isSame = true;
    const kept: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value) as [string, unknown][]) {
      const declared = views.flatMap((view) => propertyOf(view, name));
      const isStandIn =
        member === null &&
        declared.length > 0 &&
        !declared.some((schema) => this.#takesNull(schema)) &&
        !views.some((view) => requires(view, name));
      const cleaned = isStandIn ? undefined : this.clean(member, declared);
      if (!isStandIn) kept.push([name, cleaned]);
      isSame &&= cleaned === member;
    }
    return isSame ? value : Object.fromEntries(kept);
  }

  /** The schema itself, references followed, with its parts and the alternative that the value was written for. */
  #viewsOf(schema: unknown, value: object, nesting = 0): readonly Members[] {
    const target = this.#target(schema);
    if (!isMembers(target) || nesting > MAX_NESTING) return [];
    const into = (part: unknown) => this.#viewsOf(part, value, nesting + 1);
    return [
      target,
      ...listOf(target['allOf']).flatMap(into),
      ...['anyOf', 'oneOf'].flatMap((keyword) => this.#chosen(listOf(target[keyword]), value).flatMap(into)),
    ];
  }

  /** All of them where the value fits none, or it cannot be told. */
  #chosen(alternatives: readonly unknown[], value: object): readonly unknown[] {
    const fitting = alternatives.filter((each) => this.#fits(value, each));
    const whole = fitting.find((each) => this.#declaresAll(value, each));
    const [first] = fitting;
    if (whole !== undefined) return [whole];
    return first === undefined ? alternatives : [first];
  }

  /** Whichever of its own alternatives declares them. */
  #declaresAll(value: object, schema: unknown): boolean {
    const declared = namedProperties(schema, this.#root);
    return Object.keys(value).every((name) => declared.has(name));
  }

  /** Whether the value can have been written for the schema, with null for what it leaves out. Bounds are not looked at. */
  #fits(value: unknown, schema: unknown, nesting = 0): boolean {
    const target = this.#target(schema);
    if (!isMembers(target)) return target !== false;
    if (nesting > MAX_NESTING * 4) return true;
    if (typeof value !== 'object' || value === null) return this.#fitsNow(value, target, nesting);
    const known = this.#found.get(target) ?? new Map<object, boolean>();
    this.#found.set(target, known);
    const before = known.get(value);
    if (before !== undefined) return before;
    // What is asked for again inside of itself says nothing new.
    known.set(value, true);
    const fits = this.#fitsNow(value, target, nesting);
    known.set(value, fits);
    return fits;
  }

  #fitsNow(value: unknown, schema: Members, nesting: number): boolean {
    const { const: only, enum: values } = schema;
    if (!isOfType(value, schema)) return false;
    if ('const' in schema && !isDeepStrictEqual(only, value)) return false;
    if (Array.isArray(values) && !values.some((each) => isDeepStrictEqual(each, value))) return false;
    const inside = (part: unknown) => this.#fits(value, part, nesting + 1);
    if (!listOf(schema['allOf']).every(inside)) return false;
    for (const keyword of ['anyOf', 'oneOf']) {
      const list = listOf(schema[keyword]);
      if (list.length > 0 && !list.some(inside)) return false;
    }
    if (Array.isArray(value))
      return value.every((item, index) =>
        itemSchemas(schema, index).every((each) => this.#fits(item, each, nesting + 1)),
      );
    return !isMembers(value) || this.#membersFit(value, schema, nesting);
  }

  #membersFit(value: Members, schema: Members, nesting: number): boolean {
    const isPresent = (name: unknown) => typeof name === 'string' && Object.hasOwn(value, name);
    if (!listOf(schema['required']).every(isPresent)) return false;
    return Object.entries(value).every(([name, member]) => {
      const [declared] = propertyOf(schema, name);
      if (declared === undefined)
        return schema['additionalProperties'] !== false || isMembers(schema['patternProperties']);
      return (member === null && !requires(schema, name)) || this.#fits(member, declared, nesting + 1);
    });
  }

  #takesNull(schema: unknown, nesting = 0): boolean {
    const target = this.#target(schema);
    if (!isMembers(target) || nesting > MAX_NESTING) return target !== false;
    const { const: only, enum: values } = target;
    if (!isOfType(null, target)) return false;
    if (only !== undefined && only !== null) return false;
    if (Array.isArray(values) && !values.includes(null)) return false;
    const inside = (part: unknown) => this.#takesNull(part, nesting + 1);
    if (!listOf(target['allOf']).every(inside)) return false;
    return [listOf(target['anyOf']), listOf(target['oneOf'])].every(
      (list) => list.length === 0 || list.some(inside),
    );
  }

  #target(schema: unknown): unknown {
    let current = schema;
    for (let hops = 0; hops < MAX_NESTING && isMembers(current); hops += 1) {
      const { $ref } = current;
      if (typeof $ref !== 'string' || !$ref.startsWith('#')) return current;
      current = schemaAt(this.#root, $ref.slice(1));
    }
    return current;
  }
}

function itemSchemas({ items, prefixItems, additionalItems }: Members, index: number): readonly unknown[] {
  // Draft-07 wrote a tuple as a list under `items`.
  const [tuple, rest] = Array.isArray(items) ? [items, additionalItems] : [listOf(prefixItems), items];
  const own: unknown = index < tuple.length ? tuple[index] : rest;
  return own === undefined ? [] : [own];
}

function propertyOf({ properties }: Members, name: string): readonly unknown[] {
  return isMembers(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
}

function requires({ required }: Members, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}

function isOfType(value: unknown, { type, nullable }: Members): boolean {
  if (type === undefined || (value === null && nullable === true)) return true;
  const own = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  // Digits stand for an integer of 64 bits.
  return listOf(Array.isArray(type) ? type : [type]).some(
    (word) => word === own || (word === 'integer' && (own === 'number' || own === 'string')),
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
