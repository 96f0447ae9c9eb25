// A document read without any code of the loader: operations, parameters, bodies, and sample values for them.
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';

export interface RawParameter {
  readonly name: string;
  readonly in: string;
  readonly value: JsonObject;
}

export interface RawOperation {
  readonly method: string;
  readonly path: string;
  readonly value: JsonObject;
  readonly parameters: readonly RawParameter[];
}

const METHODS = ['get', 'put', 'post', 'delete', 'head', 'patch'];
const asObject = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
const asList = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);

export class RawDocument {
  readonly #root: JsonObject;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  operations(): readonly RawOperation[] {
    return Object.entries(asObject(this.#root['paths'])).flatMap(([path, written]) => {
      const item = this.at(written);
      return METHODS.filter((method) => method in item).map((method) => {
        const value = asObject(item[method]);
        const found = new Map<string, RawParameter>();
        for (const each of [...asList(item['parameters']), ...asList(value['parameters'])]) {
          const parameter = this.at(each);
          const { name, in: where } = parameter as { name: string; in: string };
          found.set(`${where} ${name}`, { name, in: where, value: parameter });
        }
        return { method: method.toUpperCase(), path, value, parameters: [...found.values()] };
      });
    });
  }

  /** What stands there, or what references there lead to. */
  at(value: JsonValue | undefined): JsonObject {
    let found = asObject(value);
    while (typeof found['$ref'] === 'string') {
      let inside: JsonValue | undefined = this.#root;
      for (const step of found['$ref'].slice(2).split('/'))
        inside = asObject(inside)[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')];
      found = asObject(inside);
    }
    return found;
  }

  /** A value that says as much as there is to encode: every member, two of each list, hard characters. */
  sample(written: JsonValue | undefined, depth = 0): JsonValue {
    const schema = this.at(written);
    const choices = asList(schema['anyOf'] ?? schema['oneOf']);
    if (choices.length > 0 && depth < 4)
      return this.sample(
        choices.find((each) => this.at(each)['type'] !== 'null'),
        depth + 1,
      );
    const named = asList(schema['enum']).find((each) => each !== null);
    if (named !== undefined) return named;
    const { type = this.#typeOf(schema) } = schema;
    const kind = Array.isArray(type) ? type.find((each) => each !== 'null') : type;
    if (kind === 'integer') return 7;
    if (kind === 'number') return 1.5;
    if (kind === 'boolean') return true;
    if (kind === 'array')
      return depth > 3
        ? ['x']
        : [this.sample(schema['items'], depth + 1), this.sample(schema['items'], depth + 1)];
    if (kind !== 'object') return 'a b&c=ü+50%';
    const members = this.members(schema);
    if (members.length === 0 || depth > 2) return { k: 'v w' };
    return Object.fromEntries(members.map(([name, member]) => [name, this.sample(member, depth + 1)]));
  }

  /** Of requests: without what only answers hold. */
  members(schema: JsonObject): readonly (readonly [string, JsonValue])[] {
    const parts = [schema, ...asList(schema['allOf']).map((part) => this.at(part))];
    return parts
      .flatMap((part) => Object.entries(asObject(part['properties'])))
      .filter(([, member]) => this.at(member)['readOnly'] !== true);
  }

  #typeOf(schema: JsonObject): string {
    return 'properties' in schema || 'allOf' in schema ? 'object' : 'items' in schema ? 'array' : 'string';
  }
}
