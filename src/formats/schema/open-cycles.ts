// Open cycles: a schema that leads back to itself does so through a property that may be left out.
import { isJsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import { withNotes } from './description-notes.ts';
import { cycles, definitionsOf, references } from './definitions.ts';
import { HOLDS_LIST, HOLDS_MAP, HOLDS_ONE } from './sub-schemas.ts';

/** What was required is told in the description. All references are to entries of `$defs`. */
export function withOpenCycles(root: JsonSchema): JsonSchema {
  const circles = cycles(root);
  if (circles.size === 0) return root;
  const opened = Object.entries(definitionsOf(root)).map(([name, part]): [string, JsonValue] => {
    const back = circles.get(name);
    return [name, back === undefined ? part : open(part, back)];
  });
  return { ...root, $defs: Object.fromEntries(opened) };
}

function open(schema: JsonValue, back: ReadonlySet<string>): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const parts = Object.entries(schema).map(([keyword, value]): [string, JsonValue] => {
    if (HOLDS_ONE.has(keyword)) return [keyword, open(value, back)];
    if (HOLDS_LIST.has(keyword) && Array.isArray(value))
      return [keyword, value.map((part) => open(part, back))];
    if (!HOLDS_MAP.has(keyword) || !isJsonObject(value)) return [keyword, value];
    return [
      keyword,
      Object.fromEntries(Object.entries(value).map(([name, part]) => [name, open(part, back)])),
    ];
  });
  return withoutCircular(Object.fromEntries(parts), back);
}

function withoutCircular(schema: JsonSchema, back: ReadonlySet<string>): JsonSchema {
  const { required, ...rest } = schema;
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  if (!Array.isArray(required)) return schema;
  const isCircular = (name: JsonValue) =>
    typeof name === 'string' && [...references(properties[name] ?? null)].some((each) => back.has(each));
  const circular = required.filter(isCircular);
  if (circular.length === 0) return schema;
  const left = required.filter((name) => !circular.includes(name));
  const description = withNotes(rest['description'], [`required: ${JSON.stringify(circular)}`]);
  return {
    ...rest,
    ...(left.length > 0 && { required: left }),
    ...(description !== undefined && { description }),
  };
}
