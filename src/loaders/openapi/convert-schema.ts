// From a schema of OpenAPI 3.0 or 3.1 to a JSON Schema 2020-12 without references, bounded in depth and size.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import { isPattern, isScalar, plainKeyword } from './plain-keyword.ts';
import { followReference } from './document/references.ts';
import { below, Unusable, type Place } from './unusable.ts';

export interface ConvertLimits {
  /** Sub-schemas and references between the root and the last that is written out; what lies deeper is `{}`. */
  readonly depth: number;
  /** Sub-schemas in all. */
  readonly nodes: number;
}

/** Written out, the schema has more sub-schemas than the limit. */
export class TooLarge extends Unusable {}

interface At {
  readonly place: Place | undefined;
  readonly depth: number;
  /** References that are being written out: one that comes again is a circle. */
  readonly refs: ReadonlySet<string>;
}

export class SchemaConverter {
  readonly #root: JsonObject;
  readonly #limits: ConvertLimits;
  #nodes = 0;

  /** One for each tool: the limit of nodes is for all its schemas together. */
  constructor(root: JsonObject, limits: ConvertLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  /** Throws Unusable, also for a reference out of the document. */
  convert(schema: JsonValue | undefined, place: Place | undefined): JsonSchema {
    const converted = this.#convert(schema, { place, depth: 0, refs: new Set() });
    return typeof converted === 'boolean' ? (converted ? {} : { not: {} }) : converted;
  }

  #convert(schema: JsonValue | undefined, at: At): JsonSchema | boolean {
    if (typeof schema === 'boolean') return schema;
    this.#nodes += 1;
    if (this.#nodes > this.#limits.nodes)
      throw new TooLarge(
        `has more than ${this.#limits.nodes} sub-schemas once its references are written out`,
      );
    if (!isJsonObject(schema) || at.depth > this.#limits.depth) return {};
    if (schema['$ref'] !== undefined) return this.#reference(schema, at);
    const out: [string, JsonValue][] = [];
    for (const keyword of Object.keys(schema)) {
      const value = this.#keyword(keyword, schema[keyword], schema, at);
      if (value !== undefined) out.push([keyword, value]);
    }
    return withNull(schema, withDefaultNamed(schema, withExample(schema, Object.fromEntries(out))));
  }

  /** 3.1 lets keywords stand beside a reference; texts replace the target's, the rest holds as well. */
  #reference({ $ref: ref, ...beside }: JsonObject, at: At): JsonSchema | boolean {
    const { value, place } = followReference(this.#root, ref, at.place);
    const name = typeof ref === 'string' ? ref : '';
    if (at.refs.has(name)) return {};
    const refs = new Set([...at.refs, name]);
    const target = this.#convert(value, { place, depth: at.depth + 1, refs });
    if (Object.keys(beside).length === 0 || typeof target === 'boolean') return target;
    const own = this.#convert(beside, { ...at, depth: at.depth + 1 });
    if (typeof own === 'boolean') return target;
    const isText = Object.keys(own).every((keyword) => keyword === 'title' || keyword === 'description');
    return isText ? { ...target, ...own } : { allOf: [target, own] };
  }

  #keyword(keyword: string, value: JsonValue | undefined, schema: JsonObject, at: At): JsonValue | undefined {
    const inner = (item: JsonValue | undefined, ...steps: (string | number)[]): JsonValue =>
      this.#convert(item, { ...at, place: below(at.place, keyword, ...steps), depth: at.depth + 1 });
    switch (keyword) {
      case 'properties':
      case 'patternProperties':
        return isJsonObject(value) ? this.#members(keyword, value, inner) : undefined;
      case 'required':
        return this.#required(value, schema, at);
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
      case 'prefixItems':
        return Array.isArray(value) && value.length > 0
          ? value.map((item, index) => inner(item, index))
          : undefined;
      case 'items':
      case 'additionalProperties':
      case 'not':
      case 'if':
      case 'then':
      case 'else':
      case 'contains':
      case 'propertyNames':
        return isJsonObject(value) || typeof value === 'boolean' ? inner(value) : undefined;
      default:
        return plainKeyword(keyword, value, schema);
    }
  }

  #members(
    keyword: string,
    members: JsonObject,
    inner: (item: JsonValue | undefined, step: string) => JsonValue,
  ): JsonValue {
    const kept = Object.entries(members).filter(([name, member]) =>
      keyword === 'properties' ? !this.#isReadOnly(member) : isPattern(name),
    );
    return Object.fromEntries(kept.map(([name, member]) => [name, inner(member, name)]));
  }

  #required(value: JsonValue | undefined, schema: JsonObject, at: At): JsonValue | undefined {
    if (!Array.isArray(value)) return undefined;
    const { properties } = schema;
    const names = value.filter((name) => typeof name === 'string');
    const sent = names.filter((name) => {
      const member =
        isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
      // Beyond the limit the properties are not written out, but they are needed all the same.
      return at.depth > this.#limits.depth || !this.#isReadOnly(member);
    });
    return sent.length > 0 ? [...new Set(sent)] : undefined;
  }

  /** What only answers hold. */
  #isReadOnly(member: JsonValue | undefined): boolean {
    if (!isJsonObject(member)) return false;
    if (member['readOnly'] === true) return true;
    if (typeof member['$ref'] !== 'string' || !member['$ref'].startsWith('#/')) return false;
    const { value } = followReference(this.#root, member['$ref'], undefined);
    return isJsonObject(value) && value['readOnly'] === true;
  }
}

/** 3.0 says `nullable`, beside a type or around what is combined. */
function withNull(schema: JsonObject, out: JsonSchema): JsonSchema {
  if (schema['nullable'] !== true) return out;
  const { type } = out;
  if (typeof type === 'string') return { ...out, type: type === 'null' ? type : [type, 'null'] };
  if (Array.isArray(type)) return { ...out, type: [...new Set([...type, 'null'])] };
  const { description, ...rest } = out;
  if (Object.keys(rest).length === 0) return out;
  return { ...(description !== undefined && { description }), anyOf: [rest, { type: 'null' }] };
}

/**
 * A default of the document is what the server assumes. It is told, and never filled in: in a partial update it
 * would overwrite what nobody mentioned.
 */
function withDefaultNamed(schema: JsonObject, out: JsonSchema): JsonSchema {
  const { default: assumed } = schema;
  if (!isScalar(assumed)) return out;
  const note = `(Default: ${JSON.stringify(assumed)})`;
  const { description } = out;
  return { ...out, description: typeof description === 'string' ? `${description} ${note}` : note };
}

function withExample(schema: JsonObject, out: JsonSchema): JsonSchema {
  const { example, examples } = schema;
  const given = (Array.isArray(examples) ? examples : [example]).filter(isScalar).slice(0, 3);
  return given.length > 0 ? { ...out, examples: given } : out;
}
