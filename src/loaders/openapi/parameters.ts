// Parameters of an operation: into arguments, and into the places of the request that the http executor fills.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import type { Arguments } from './arguments.ts';
import type { SchemaConverter } from './convert-schema.ts';
import type { Operation } from './document/list-operations.ts';
import { dereference } from './document/references.ts';
import type { OpenApiOptions } from './options.ts';
import { filledNames, namesIn, type SentPath } from './path-template.ts';
import { plainText } from './plain-text.ts';
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
  /** By argument. */
  readonly pathStyles: readonly (readonly [string, JsonObject])[];
  readonly query: readonly (readonly [string, JsonValue])[];
  readonly headers: readonly (readonly [string, string])[];
  readonly headerArguments: readonly (readonly [string, JsonObject])[];
  readonly cookies: readonly (readonly [string, JsonValue])[];
}

/** What OpenAPI itself has elsewhere: in the content types and the security of an operation. */
const DESCRIBED_ELSEWHERE: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization']);
/** What the http executor lets no tool set. */
const OF_THE_TRANSPORT =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|forwarded|accept-encoding|content-encoding|cookie|proxy-.*|x-forwarded-.*)$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const STYLES: ReadonlySet<unknown> = new Set(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject']);
const PATH_STYLES: ReadonlySet<unknown> = new Set(['simple', 'label', 'matrix']);

export interface ParameterNeeds {
  readonly root: JsonObject;
  readonly converter: SchemaConverter;
  readonly args: Arguments;
  readonly omitted: readonly string[];
  readonly path: SentPath;
  readonly options: Pick<OpenApiOptions, 'deep_lists' | 'file_urls'>;
}

export function addParameters(operation: Operation, needs: ParameterNeeds): RequestParts {
  const path = new Map<string, string>();
  const pathStyles: [string, JsonObject][] = [];
  const query = new Map<string, JsonValue>();
  const headers = new Map<string, readonly [name: string, value: string | JsonObject]>();
  const cookies = new Map<string, JsonValue>();
  const inPath = new Set([needs.path.path, ...needs.path.query.map(([, value]) => value)].flatMap(namesIn));
  const fixed = new Set(needs.path.query.map(([name]) => name));
  for (const parameter of parametersOf(operation, needs)) {
    const { name } = parameter;
    if (parameter.in === 'path') {
      if (!inPath.has(name)) continue;
      const { argument, said } = pathArgument(parameter, needs);
      path.set(name, argument);
      if (said !== undefined) pathStyles.push([argument, said]);
    } else if (needs.omitted.includes(name)) continue;
    else if (parameter.in === 'query') {
      if (!fixed.has(name)) query.set(name, pairValue(parameter, 'query', needs));
    } else if (parameter.in === 'cookie' && HEADER_NAME.test(name)) {
      cookies.set(name, pairValue(parameter, 'cookie', needs));
    } else if (parameter.in === 'header') {
      const value = headers.has(name.toLowerCase()) ? undefined : headerValue(parameter, needs);
      if (value !== undefined) headers.set(name.toLowerCase(), [name, value]);
    } else if (parameter.required) {
      throw new Unusable(
        `needs the parameter ${shown(name)} in ${shown(parameter.in)}, which no tool can set`,
      );
    }
  }
  for (const name of inPath) {
    if (!path.has(name)) path.set(name, needs.args.add(name, 'path', { type: 'string' }, true));
  }
  for (const [name, value] of needs.path.query) query.set(name, filledNames(value, path));
  const all = [...headers.values()];
  return {
    path,
    pathStyles,
    query: [...query],
    headers: all.filter((header): header is readonly [string, string] => typeof header[1] === 'string'),
    headerArguments: all.filter(
      (header): header is readonly [string, JsonObject] => typeof header[1] === 'object',
    ),
    cookies: [...cookies],
  };
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

/** `said`: how a list or an object is written, where there is more than one way. */
function pathArgument(
  parameter: Parameter,
  needs: ParameterNeeds,
): { argument: string; said: JsonObject | undefined } {
  const { name, value } = parameter;
  const { style = 'simple', explode } = value;
  if (!PATH_STYLES.has(style))
    throw new Unusable(
      `writes the path parameter ${shown(name)} in the style ${shown(JSON.stringify(style))}`,
    );
  const schema = schemaOf(parameter, needs);
  const argument = needs.args.add(name, 'path', schema, true);
  if (isJsonContent(parameter)) return { argument, said: { style: 'json' } };
  if (style === 'simple' && isScalar(schema)) return { argument, said: undefined };
  const said = {
    style,
    ...(typeof explode === 'boolean' && { explode }),
    ...(style === 'matrix' && { name }),
  };
  return { argument, said };
}

function pairValue(parameter: Parameter, where: 'query' | 'cookie', needs: ParameterNeeds): JsonValue {
  const { name, value, required } = parameter;
  const { style = 'form', explode } = value;
  if (!STYLES.has(style))
    throw new Unusable(`writes ${shown(name)} in the unknown style ${shown(JSON.stringify(style))}`);
  const schema = schemaOf(parameter, needs);
  const argument = needs.args.add(name, where, schema, required);
  if (isJsonContent(parameter)) return { from: argument, style: 'json' };
  if (isScalar(schema)) return `{${argument}}`;
  const { deep_lists: lists } = needs.options;
  return {
    from: argument,
    style,
    // deepObject knows one way.
    ...(typeof explode === 'boolean' && style !== 'deepObject' && { explode }),
    ...(style === 'deepObject' && lists !== undefined && { lists }),
  };
}

function headerValue(parameter: Parameter, needs: ParameterNeeds): string | JsonObject | undefined {
  const { name, value, required } = parameter;
  const lower = name.toLowerCase();
  if (DESCRIBED_ELSEWHERE.has(lower)) return undefined;
  if (!HEADER_NAME.test(name) || OF_THE_TRANSPORT.test(lower)) {
    if (required) throw new Unusable(`needs the header ${shown(name)}, which no tool can set`);
    return undefined;
  }
  const schema = schemaOf(parameter, needs);
  const argument = needs.args.add(name, 'header', schema, required);
  if (isJsonContent(parameter)) return { from: argument, style: 'json' };
  if (isScalar(schema)) return `{${argument}}`;
  return { from: argument, ...(typeof value['explode'] === 'boolean' && { explode: value['explode'] }) };
}

/** A parameter has a schema, or a content type of its own: of JSON, it is what the JSON has to be; of others, text. */
function schemaOf(parameter: Parameter, { converter }: ParameterNeeds): JsonSchema {
  const { value, place } = parameter;
  const { content, schema, description } = value;
  const [type, media] = contentOf(content) ?? [];
  const converted: JsonSchema =
    type === undefined
      ? converter.convert(schema, below(place, 'schema'))
      : isJsonContent(parameter)
        ? converter.convert(
            isJsonObject(media) ? media['schema'] : {},
            below(place, 'content', type, 'schema'),
          )
        : { type: 'string', contentMediaType: type };
  if (typeof description !== 'string' || !/\S/.test(description)) return converted;
  // What the schema's own text says of its default is kept.
  const { description: told } = converted;
  const assumed = typeof told === 'string' ? /\(Default: .*\)$/s.exec(told)?.[0] : undefined;
  const text = plainText(description).trim().slice(0, 1_000).toWellFormed();
  return { ...converted, description: assumed === undefined ? text : `${text} ${assumed}` };
}

function contentOf(content: JsonValue | undefined): readonly [string, JsonValue] | undefined {
  return isJsonObject(content) ? Object.entries(content)[0] : undefined;
}

function isJsonContent({ value }: Parameter): boolean {
  const [type = ''] = contentOf(value['content']) ?? [];
  return /^[^;]*[/+]json\s*(?:;|$)/i.test(type);
}

/** Nothing but texts, numbers and booleans fit: there is one way to write them. */
function isScalar({ type }: JsonSchema): boolean {
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean';
}
