// Parameters of an operation: into arguments, and into the places of the request that the http executor fills.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import type { Arguments } from './arguments.ts';
import type { SchemaConverter } from './convert-schema.ts';
import type { Operation } from './document/list-operations.ts';
import { dereference } from './document/references.ts';
import { below, pointerOf, shown, Unusable, type Place } from './unusable.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly value: JsonObject;
  readonly place: Place | undefined;
}

export interface RequestParts {
  /** Argument by the name that the path's template uses. */
  readonly path: ReadonlyMap<string, string>;
  readonly query: readonly (readonly [string, JsonValue])[];
  readonly headers: readonly (readonly [string, string])[];
}

/** What OpenAPI itself has elsewhere: in the content types and the security of an operation. */
const DESCRIBED_ELSEWHERE: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization']);
/** What the http executor lets no tool set. */
const OF_THE_TRANSPORT =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|forwarded|accept-encoding|content-encoding|cookie|proxy-.*|x-forwarded-.*)$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const STYLES: ReadonlySet<unknown> = new Set(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject']);

export interface ParameterNeeds {
  readonly root: JsonObject;
  readonly converter: SchemaConverter;
  readonly args: Arguments;
  readonly omitted: readonly string[];
}

export function addParameters(operation: Operation, needs: ParameterNeeds): RequestParts {
  const path = new Map<string, string>();
  const query = new Map<string, JsonValue>();
  const headers = new Map<string, { readonly name: string; readonly text: string }>();
  const inPath = new Set(pathNames(operation.path));
  for (const parameter of parametersOf(operation, needs)) {
    const { name } = parameter;
    if (parameter.in === 'path') {
      if (!inPath.has(name)) continue;
      path.set(name, needs.args.add(name, 'path', pathSchema(parameter, needs), true));
    } else if (needs.omitted.includes(name)) continue;
    else if (parameter.in === 'query') query.set(name, queryValue(parameter, needs));
    else if (parameter.in === 'header') {
      const argument = headerArgument(parameter, needs);
      if (argument !== undefined && !headers.has(name.toLowerCase()))
        headers.set(name.toLowerCase(), { name, text: `{${argument}}` });
    } else if (parameter.required) {
      throw new Unusable(
        `needs the parameter ${shown(name)} in ${shown(parameter.in)}, which no tool can set`,
      );
    }
  }
  for (const name of inPath) {
    if (!path.has(name)) path.set(name, needs.args.add(name, 'path', { type: 'string' }, true));
  }
  return { path, query: [...query], headers: [...headers.values()].map(({ name, text }) => [name, text]) };
}

/** Names in braces, in order. */
export function pathNames(path: string): readonly string[] {
  return [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);
}

/** Those of the operation replace those of its path. */
function parametersOf({ item, value, place }: Operation, { root }: ParameterNeeds): readonly Parameter[] {
  const found = new Map<string, Parameter>();
  const lists = [
    { list: item['parameters'], at: below(place?.parent, 'parameters') },
    { list: value['parameters'], at: below(place, 'parameters') },
  ];
  for (const { list, at } of lists) {
    for (const [index, written] of (Array.isArray(list) ? list : []).entries()) {
      const parameter = dereference(root, { value: written, place: below(at, index) });
      const { name, in: where, required } = parameter.value;
      if (typeof name !== 'string' || name === '' || typeof where !== 'string')
        throw new Unusable(`has a parameter without name or place at ${pointerOf(parameter.place)}`);
      found.set(JSON.stringify([where, name]), {
        ...parameter,
        name,
        in: where,
        required: required === true,
      });
    }
  }
  return [...found.values()];
}

function pathSchema(parameter: Parameter, needs: ParameterNeeds): JsonSchema {
  const { name, value } = parameter;
  if (value['style'] !== undefined && value['style'] !== 'simple')
    throw new Unusable(
      `writes the path parameter ${shown(name)} in the style ${shown(JSON.stringify(value['style']))}`,
    );
  const schema = schemaOf(parameter, needs);
  if (isComposed(schema)) throw new Unusable(`has a list or an object as the path parameter ${shown(name)}`);
  return schema;
}

function queryValue(parameter: Parameter, needs: ParameterNeeds): JsonValue {
  const { name, value, required } = parameter;
  const { style = 'form', explode } = value;
  if (!STYLES.has(style))
    throw new Unusable(`writes ${shown(name)} in the unknown style ${shown(JSON.stringify(style))}`);
  const schema = schemaOf(parameter, needs);
  const argument = needs.args.add(name, 'query', schema, required);
  if (isScalar(schema)) return `{${argument}}`;
  return { from: argument, style, ...(typeof explode === 'boolean' && { explode }) };
}

function headerArgument(parameter: Parameter, needs: ParameterNeeds): string | undefined {
  const { name, required } = parameter;
  const lower = name.toLowerCase();
  if (DESCRIBED_ELSEWHERE.has(lower)) return undefined;
  const schema = schemaOf(parameter, needs);
  if (!HEADER_NAME.test(name) || OF_THE_TRANSPORT.test(lower) || isComposed(schema)) {
    if (required) throw new Unusable(`needs the header ${shown(name)}, which no tool can set`);
    return undefined;
  }
  return needs.args.add(name, 'header', schema, required);
}

/** A parameter has a schema, or a content type of its own: then it is sent as text of that type. */
function schemaOf({ value, place }: Parameter, { converter }: ParameterNeeds): JsonSchema {
  const { content, schema, description } = value;
  const [type] = isJsonObject(content) ? Object.keys(content) : [];
  const converted: JsonSchema =
    type === undefined
      ? converter.convert(schema, below(place, 'schema'))
      : { type: 'string', contentMediaType: type };
  if (typeof description !== 'string' || !/\S/.test(description)) return converted;
  // What the schema's own text says of its default is kept.
  const { description: told } = converted;
  const assumed = typeof told === 'string' ? /\(Default: .*\)$/s.exec(told)?.[0] : undefined;
  const text = description.trim().slice(0, 1_000).toWellFormed();
  return { ...converted, description: assumed === undefined ? text : `${text} ${assumed}` };
}

/** Nothing but texts, numbers and booleans fit: there is one way to write them. */
function isScalar({ type }: JsonSchema): boolean {
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean';
}

/** Nothing but lists or objects fit. */
function isComposed({ type }: JsonSchema): boolean {
  const types = Array.isArray(type) ? type : [type];
  return types.every((name) => name === 'array' || name === 'object' || name === 'null');
}
