// Parameters that a client of 2026-07-28 says a second time in a header of HTTP, `Mcp-Param-*`, for those who pass a call on and do
// not read its message. A client takes no tool whose schema asks for them in a way that the protocol does not have.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';

const KEYWORD = 'x-mcp-header';
/** In the data of a refusal: the headers and where their values stand, for a client that has not listed the tool. */
export const ASKED_KEY = 'io.ute/parameterHeaders';
/** What a header can be called. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = ['string', 'integer', 'boolean'] as const;

export interface ParameterHeader {
  /** In small letters, as Node has it. */
  readonly header: string;
  /** Keys from the arguments on. */
  readonly path: readonly string[];
  /** What the schema says it is. An argument of another kind is told nowhere but to the schema. */
  readonly type: 'string' | 'integer' | 'boolean';
}

const NONE: readonly ParameterHeader[] = [];
const known = new WeakMap<JsonSchema, readonly ParameterHeader[]>();

/** Those that a schema asks for; none where it asks for any otherwise than the protocol does. */
export function parameterHeaders(schema: JsonSchema): readonly ParameterHeader[] {
  const found = known.get(schema) ?? headersIn(schema);
  known.set(schema, found);
  return found;
}

/** The same without the keyword. */
export function withoutParameterHeaders(schema: JsonSchema): JsonSchema {
  const json = JSON.stringify(schema);
  if (!json.includes(`"${KEYWORD}"`)) return schema;
  return JSON.parse(json, (name: string, value: JsonValue) =>
    isKeyword(name, value) ? undefined : value,
  ) as JsonSchema;
}

/** A property of this name is a schema, and never a text. */
function isKeyword(name: string, value: JsonValue): boolean {
  return name === KEYWORD && typeof value === 'string';
}

function headersIn(schema: JsonSchema): readonly ParameterHeader[] {
  const json = JSON.stringify(schema);
  if (!json.includes(`"${KEYWORD}"`)) return NONE;
  const found = [...declaredIn(schema, [])];
  const names = new Set(found.map(({ header }) => header));
  let all = 0;
  JSON.parse(json, (name: string, value: JsonValue) => {
    if (isKeyword(name, value)) all += 1;
    return value;
  });
  // One that is refused, is there twice, or stands where no chain of properties leads.
  return found.length === all && names.size === all ? found : NONE;
}

function* declaredIn(schema: JsonObject, path: readonly string[]): Generator<ParameterHeader> {
  const { [KEYWORD]: name, properties } = schema;
  const type = TYPES.find((each) => each === schema['type']);
  if (path.length > 0 && typeof name === 'string' && TOKEN.test(name) && type !== undefined)
    yield { header: `mcp-param-${name.toLowerCase()}`, path, type };
  if (!isJsonObject(properties)) return;
  for (const [key, part] of Object.entries(properties))
    if (isJsonObject(part)) yield* declaredIn(part, [...path, key]);
}
