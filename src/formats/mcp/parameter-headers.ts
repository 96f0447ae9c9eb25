// Parameters that a client would say a second time in a header of HTTP: a server that asks for them holds each header to its argument.
import type { JsonSchema, JsonValue } from '../../contract/json.ts';

const KEYWORD = 'x-mcp-header';

/** The same without the keyword: this door reads arguments from the message alone, and asks for no `Mcp-Param-*`. */
export function withoutParameterHeaders(schema: JsonSchema): JsonSchema {
  const json = JSON.stringify(schema);
  if (!json.includes(`"${KEYWORD}"`)) return schema;
  // A property of this name is a schema, and never a text.
  const isKeyword = (name: string, value: JsonValue) => name === KEYWORD && typeof value === 'string';
  return JSON.parse(json, (name: string, value: JsonValue) =>
    isKeyword(name, value) ? undefined : value,
  ) as JsonSchema;
}
