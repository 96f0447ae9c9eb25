// The arguments of a call that a declared route takes: from its path, and from its query or its body.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import type { LargeIntegers } from '../../../contract/call/tool-call.ts';
import { parseCallBody } from '../route/json-text.ts';
import { refused, type Violation } from '../route/violations.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { childPointer } from '../../../lib/json/json-pointer.ts';
import type { FoundRoute } from './route-table.ts';

export interface RouteArguments {
  readonly arguments: JsonObject;
  /** Pointers into them. */
  readonly largeIntegers: LargeIntegers;
}

const INTEGER = /^-?(?:0|[1-9]\d{0,14})$/;
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;

/** Throws ToolFailure VALIDATION. */
export function argumentsOf(
  { spec, route, params }: FoundRoute,
  { query, body }: { readonly query: string; readonly body: unknown },
): RouteArguments {
  const { properties } = spec.inputSchema;
  const schemas = isJsonObject(properties) ? properties : {};
  const inPath = [...params].map(([name, text]) => [name, valueOf(text, schemaOf(schemas, name))] as const);
  if (body instanceof ToolFailure) throw body;
  const asks = route.method === 'GET' || route.method === 'DELETE';
  const { value, largeIntegers } = asks ? inQuery(query, schemas) : inBody(query, body);
  const twice = [...params.keys()].filter((name) => Object.hasOwn(value, name));
  if (twice.length > 0)
    throw refused(twice.map((name) => wrong(name, 'stands in the path already: say it there alone')));
  return { arguments: Object.fromEntries([...Object.entries(value), ...inPath]), largeIntegers };
}

function inQuery(query: string, schemas: JsonObject): { value: JsonObject; largeIntegers: LargeIntegers } {
  const said = new Map<string, string[]>();
  for (const [name, text] of new URLSearchParams(query)) said.set(name, [...(said.get(name) ?? []), text]);
  const repeated = [...said].filter(([name, texts]) => texts.length > 1 && !isList(schemaOf(schemas, name)));
  if (repeated.length > 0)
    throw refused(repeated.map(([name]) => wrong(name, 'stands in the query more than once')));
  const entries = [...said].map(([name, texts]) => {
    const schema = schemaOf(schemas, name);
    return [name, isList(schema) ? texts : valueOf(texts[0] ?? '', schema)] as const;
  });
  return { value: Object.fromEntries(entries), largeIntegers: [] };
}

function inBody(query: string, body: unknown): { value: JsonObject; largeIntegers: LargeIntegers } {
  const strays = [...new URLSearchParams(query).keys()];
  if (strays.length > 0)
    throw refused(strays.map((name) => wrong(name, 'stands in the query; expected it in the body')));
  const { value, largeIntegers } = parseCallBody(body);
  if (isJsonObject(value)) return { value, largeIntegers };
  throw refused([{ pointer: '', message: 'must be an object, of the arguments' }]);
}

/** A URL holds texts alone: they are read as the tool's schema says. What does not fit stays a text, and is refused as one. */
function valueOf(text: string, schema: JsonObject): JsonValue {
  const types = [schema['type']].flat();
  if (types.includes('string')) return text;
  if (types.includes('integer') && INTEGER.test(text)) return Number(text);
  if (types.includes('number') && NUMBER.test(text)) return Number(text);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function isList(schema: JsonObject): boolean {
  return [schema['type']].flat().includes('array');
}

function schemaOf(schemas: JsonObject, name: string): JsonObject {
  const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
  return isJsonObject(schema) ? schema : {};
}

function wrong(name: string, message: string): Violation {
  return { pointer: childPointer('', name.slice(0, 64)), message };
}
