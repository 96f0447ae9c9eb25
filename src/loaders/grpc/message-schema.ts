// From a message to the JSON Schema of its proto3 JSON: as arguments, or as a result.
import { ScalarType, type DescEnum, type DescField, type DescMessage } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import type { JsonObject } from '../../contract/json.ts';
import { Unusable } from './unusable.ts';

export interface SchemaNeeds {
  /** What is said of messages and fields, by full name, fit to be shown. */
  readonly said: (name: string) => string | undefined;
  readonly of: 'arguments' | 'result';
}

/** Far more than anybody fills in, and as many as a schema may hold. */
const MOST_NODES = 1_500;
const MOST_ENUM_VALUES = 500;

const INT32 = 2 ** 31;
const TEXT: JsonObject = { type: 'string' };
const WHOLE = { int32: [-INT32, INT32 - 1], uint32: [0, 2 ** 32 - 1] } as const;

const WELL_KNOWN: { readonly [name: string]: JsonObject } = {
  Timestamp: { type: 'string', format: 'date-time', description: 'A moment, such as 2026-01-31T12:00:00Z.' },
  Duration: {
    type: 'string',
    pattern: '^-?\\d{1,12}(\\.\\d{1,9})?s$',
    description: 'A number of seconds, such as "1.5s".',
  },
  FieldMask: {
    type: 'string',
    maxLength: 65_536,
    description: 'Names of fields, separated by commas: "name,address.city".',
  },
  Struct: { type: 'object', additionalProperties: true },
  Value: {},
  ListValue: { type: 'array', items: {} },
  Empty: { type: 'object', additionalProperties: false },
  Any: {
    type: 'object',
    properties: {
      '@type': { type: 'string', description: 'type.googleapis.com/ and the full name of the message.' },
    },
    additionalProperties: true,
    // An Any that holds nothing is `{}`. No anyOf: shown to models, that would hide what stands beside it.
    if: { maxProperties: 0 },
    else: { required: ['@type'] },
  },
};

/** Throws Unusable where it is larger than a schema may be. */
export function messageSchema(desc: DescMessage, needs: SchemaNeeds): JsonObject {
  return new SchemaBuilder(needs).root(desc);
}

class SchemaBuilder {
  readonly #needs: SchemaNeeds;
  /** By full name: what stands under $defs, or is being made for it. */
  readonly #defs = new Map<string, { readonly key: string; schema: JsonObject }>();
  #nodes = 0;

  constructor(needs: SchemaNeeds) {
    this.#needs = needs;
  }

  root(desc: DescMessage): JsonObject {
    const known = wellKnownSchema(desc);
    if (known !== undefined) {
      if (desc.typeName === 'google.protobuf.Empty') return known;
      if (this.#needs.of === 'result') return known;
      if (known['type'] !== 'object') throw new Unusable(`takes a ${desc.typeName}, which is no object`);
      return known;
    }
    const uses = usesOf(desc);
    const schema = this.#message(desc, uses);
    const inside = uses.get(desc.typeName) ?? 0;
    // Where a message holds itself, the root is one of those that are referred to.
    if (inside > 0) this.#define(desc, uses);
    if (this.#defs.size === 0) return schema;
    return {
      ...schema,
      $defs: Object.fromEntries([...this.#defs.values()].map(({ key, schema: each }) => [key, each])),
    };
  }

  #message(desc: DescMessage, uses: ReadonlyMap<string, number>): JsonObject {
    this.#count();
    const properties: JsonObject = {};
    const required: string[] = [];
    for (const field of desc.fields) {
      if (field.jsonName === '__proto__') throw new Unusable('has a field called "__proto__"');
      if (Object.hasOwn(properties, field.jsonName))
        throw new Unusable(`has two fields called ${JSON.stringify(field.jsonName)} in ${desc.typeName}`);
      properties[field.jsonName] = this.#described(field, this.#field(field, uses));
      if (field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED) required.push(field.jsonName);
    }
    return {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      // An upstream may be newer than what describes it.
      ...(this.#needs.of === 'arguments' && { additionalProperties: false }),
    };
  }

  #described(field: DescField, schema: JsonObject): JsonObject {
    const own = this.#needs.said(`${field.parent.typeName}.${field.name}`);
    const oneof =
      field.oneof === undefined
        ? undefined
        : `Only one of ${field.oneof.fields.map(({ jsonName }) => jsonName).join(', ')}.`;
    const old = field.deprecated ? 'Deprecated.' : undefined;
    const text = [own, oneof, old].filter((each) => each !== undefined).join(' ');
    return text === '' ? schema : { ...schema, description: text };
  }

  #field(field: DescField, uses: ReadonlyMap<string, number>): JsonObject {
    this.#count();
    if (field.fieldKind === 'list') return { type: 'array', items: this.#value(field, uses) };
    if (field.fieldKind === 'map')
      return { type: 'object', additionalProperties: this.#value(field, uses), ...keysOf(field.mapKey) };
    return this.#value(field, uses);
  }

  #value({ message, enum: values, scalar }: DescField, uses: ReadonlyMap<string, number>): JsonObject {
    this.#count();
    if (values !== undefined) return enumSchema(values, this.#needs.of);
    if (message === undefined) return scalarSchema(scalar ?? ScalarType.STRING, this.#needs.of);
    const known = wellKnownSchema(message);
    if (known !== undefined) return known;
    return (uses.get(message.typeName) ?? 0) > 1 || this.#isRecursive(message)
      ? this.#define(message, uses)
      : this.#message(message, uses);
  }

  #define(desc: DescMessage, uses: ReadonlyMap<string, number>): JsonObject {
    const known = this.#defs.get(desc.typeName);
    const key = known?.key ?? this.#keyFor(desc);
    if (known === undefined) {
      const made = { key, schema: {} as JsonObject };
      this.#defs.set(desc.typeName, made);
      made.schema = this.#message(desc, uses);
    }
    return { $ref: `#/$defs/${key}` };
  }

  /** Two packages may have a message of one name. */
  #keyFor(desc: DescMessage): string {
    const taken = new Set([...this.#defs.values()].map(({ key }) => key));
    return taken.has(desc.name) ? desc.typeName : desc.name;
  }

  #isRecursive(desc: DescMessage): boolean {
    const known = RECURSIVE.get(desc);
    if (known !== undefined) return known;
    const found = reaches(desc);
    RECURSIVE.set(desc, found);
    return found;
  }

  #count(): void {
    this.#nodes += 1;
    if (this.#nodes > MOST_NODES)
      throw new Unusable(`has a message of more than ${MOST_NODES} fields and types`);
  }
}

const RECURSIVE = new WeakMap<DescMessage, boolean>();
const MOST_TYPES = 2_000;

function wellKnownSchema({ typeName, fields }: DescMessage): JsonObject | undefined {
  const [, name] = /^google\.protobuf\.(\w+)$/.exec(typeName) ?? [];
  if (name === undefined) return undefined;
  if (Object.hasOwn(WELL_KNOWN, name)) return WELL_KNOWN[name];
  const [value] = fields;
  return /^(?:Double|Float|U?Int(?:64|32)|Bool|String|Bytes)Value$/.test(name) && value?.scalar !== undefined
    ? scalarSchema(value.scalar, 'arguments')
    : undefined;
}

/** How often each message stands in a field below `root`. */
function usesOf(root: DescMessage): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  const seen = new Set([root.typeName]);
  const waiting = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const { message } of next.fields) {
      if (message === undefined || wellKnownSchema(message) !== undefined) continue;
      uses.set(message.typeName, (uses.get(message.typeName) ?? 0) + 1);
      if (seen.has(message.typeName)) continue;
      seen.add(message.typeName);
      if (seen.size > MOST_TYPES) throw new Unusable(`has messages of more than ${MOST_TYPES} types`);
      waiting.push(message);
    }
  return uses;
}

/** Whether a message holds itself, however far down. */
function reaches(desc: DescMessage): boolean {
  const seen = new Set<string>();
  const waiting = [desc];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const { message } of next.fields) {
      if (message === undefined || seen.has(message.typeName)) continue;
      if (message.typeName === desc.typeName) return true;
      seen.add(message.typeName);
      waiting.push(message);
    }
  return false;
}

function enumSchema(desc: DescEnum, of: SchemaNeeds['of']): JsonObject {
  if (desc.typeName === 'google.protobuf.NullValue') return { type: 'null' };
  const names = [...new Set(desc.values.map(({ name }) => name))];
  if (names.length > MOST_ENUM_VALUES) return TEXT;
  // A number that has no name yet comes as it is.
  return of === 'arguments' ? { type: 'string', enum: names } : { type: ['string', 'integer'] };
}

function scalarSchema(type: ScalarType, of: SchemaNeeds['of']): JsonObject {
  if (type === ScalarType.DOUBLE || type === ScalarType.FLOAT)
    // Infinity and NaN are texts.
    return of === 'arguments' ? { type: 'number' } : { type: ['number', 'string'] };
  return SCALARS.get(type) ?? range(WHOLE.int32);
}

const INT64: JsonObject = { type: 'integer', format: 'int64' };
/** More than int64 holds. */
const UINT64: JsonObject = { type: ['integer', 'string'], minimum: 0, pattern: '^\\d{1,20}$' };

const SCALARS: ReadonlyMap<ScalarType, JsonObject> = new Map([
  [ScalarType.STRING, TEXT],
  [ScalarType.BYTES, { type: 'string', contentEncoding: 'base64' }],
  [ScalarType.BOOL, { type: 'boolean' }],
  [ScalarType.INT64, INT64],
  [ScalarType.SINT64, INT64],
  [ScalarType.SFIXED64, INT64],
  [ScalarType.UINT64, UINT64],
  [ScalarType.FIXED64, UINT64],
  [ScalarType.UINT32, range(WHOLE.uint32)],
  [ScalarType.FIXED32, range(WHOLE.uint32)],
]);

function range([minimum, maximum]: readonly [number, number]): JsonObject {
  return { type: 'integer', minimum, maximum };
}

function keysOf(type: ScalarType): JsonObject {
  if (type === ScalarType.STRING) return {};
  return { propertyNames: { pattern: type === ScalarType.BOOL ? '^(true|false)$' : '^-?\\d{1,20}$' } };
}
