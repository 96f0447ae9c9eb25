// Plain schema: the same schema in JSON Schema 2020-12 alone: no spellings of older drafts, every reference to an entry of `$defs`.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import { fromPointer } from '../../lib/json/json-pointer.ts';
import { schemaAt } from '../../lib/json-schema/named-properties.ts';
import { HOLDS_LIST, HOLDS_MAP, HOLDS_ONE } from './sub-schemas.ts';

/** Says the same of every value, but for what a reference that leads nowhere would say. */
export function plainSchema(source: JsonSchema): JsonSchema {
  return new Plain(source).root();
}

class Plain {
  readonly #source: JsonSchema;
  /** Names in `$defs`, by the pointer that references write. */
  readonly #names = new Map<string, string>();
  readonly #waiting: { readonly name: string; readonly target: JsonValue }[] = [];

  constructor(source: JsonSchema) {
    this.#source = source;
  }

  root(): JsonSchema {
    const root = this.#schema(this.#source) as JsonSchema;
    const definitions: JsonObject = {};
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      define(definitions, next.name, this.#schema(next.target));
    return Object.keys(definitions).length === 0 ? root : { ...root, $defs: definitions };
  }

  #schema(source: JsonValue): JsonValue {
    if (!isJsonObject(source)) return source;
    const plain: [string, JsonValue][] = [];
    for (const [keyword, value] of Object.entries(withoutNullable(withModernTuple(source)))) {
      if (keyword === '$schema' || keyword === '$defs' || keyword === 'definitions') continue;
      if (keyword === '$ref') plain.push(...this.#reference(value));
      else if (keyword === 'dependencies' && isJsonObject(value)) plain.push(...this.#dependencies(value));
      else plain.push([keyword, this.#value(keyword, value)]);
    }
    return Object.fromEntries(plain);
  }

  #value(keyword: string, value: JsonValue): JsonValue {
    if (HOLDS_ONE.has(keyword)) return this.#schema(value);
    if (HOLDS_LIST.has(keyword) && Array.isArray(value)) return value.map((part) => this.#schema(part));
    if (!HOLDS_MAP.has(keyword) || !isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, this.#schema(part)]));
  }

  /** Draft-07 said under one keyword what two say now. */
  #dependencies(value: JsonObject): [string, JsonValue][] {
    const names = Object.entries(value).filter(([, each]) => Array.isArray(each));
    const schemas = Object.entries(value).filter(([, each]) => !Array.isArray(each));
    return [
      ...(names.length > 0 ? [['dependentRequired', Object.fromEntries(names)] as [string, JsonValue]] : []),
      ...(schemas.length > 0
        ? [
            ['dependentSchemas', this.#value('dependentSchemas', Object.fromEntries(schemas))] as [
              string,
              JsonValue,
            ],
          ]
        : []),
    ];
  }

  /** None for one that leads nowhere: it says nothing that could be kept. */
  #reference(ref: JsonValue): [string, JsonValue][] {
    if (typeof ref !== 'string' || !ref.startsWith('#')) return [];
    const known = this.#names.get(ref);
    if (known !== undefined) return [['$ref', `#/$defs/${known}`]];
    const target = schemaAt(this.#source, ref.slice(1));
    if (typeof target !== 'boolean' && !isJsonObject(target)) return [];
    const name = this.#freeName(ref);
    this.#names.set(ref, name);
    this.#waiting.push({ name, target });
    return [['$ref', `#/$defs/${name}`]];
  }

  /** Of letters that need no escape in a pointer. */
  #freeName(ref: string): string {
    const last = fromPointer(ref.slice(1)).at(-1) ?? 'arguments';
    const wished = last.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 64) || 'part';
    const taken = new Set(this.#names.values());
    let name = wished;
    for (let count = 2; taken.has(name); count += 1) name = `${wished}_${count}`;
    return name;
  }
}

/** An assignment would take `__proto__` for something else. */
function define(object: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}

/** Draft-07 wrote a tuple as a list under `items`. */
function withModernTuple(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema['items'])) return schema;
  const { items, additionalItems, ...rest } = schema;
  return {
    ...rest,
    prefixItems: items,
    ...(additionalItems === undefined ? {} : { items: additionalItems }),
  };
}

/** OpenAPI 3.0's way to say that null is allowed as well. */
function withoutNullable(schema: JsonSchema): JsonSchema {
  const { nullable, ...rest } = schema;
  if (typeof nullable !== 'boolean') return schema;
  const types = [rest['type'] ?? []].flat();
  if (!nullable || types.length === 0 || types.includes('null')) return rest;
  return { ...rest, type: [...types, 'null'] };
}
