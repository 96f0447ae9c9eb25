// Stand-in nulls: OpenAI's strict mode has no absent argument, only null. Here null becomes absent again.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import { resolveLocal } from '../../contract/tool/local-refs.ts';

/** Alternatives inside alternatives inside …: a circle of references ends here. */
const MAX_NESTING = 8;

/** The arguments without the nulls that stand for an optional property whose own schema has no null. */
export function dropStandInNulls(args: JsonObject, inputSchema: JsonSchema): JsonObject {
  const cleaned = clean(args, [inputSchema], inputSchema);
  return isJsonObject(cleaned) ? cleaned : args;
}

/** `schemas`: all that speak about the value. A null goes only if none of them requires or allows it. */
function clean(value: JsonValue, schemas: readonly JsonValue[], root: JsonSchema): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  const views = schemas.flatMap((schema) => viewsOf(schema, root));
  if (Array.isArray(value)) {
    const items = views.flatMap((view) => view['items'] ?? []);
    return value.map((entry) => clean(entry, items, root));
  }
  const kept: [string, JsonValue][] = [];
  for (const [name, entry] of Object.entries(value)) {
    const declared = views.flatMap((view) => propertyOf(view, name));
    const isStandIn =
      entry === null &&
      declared.length > 0 &&
      !declared.some((schema) => takesNull(schema, root)) &&
      !views.some(({ required }) => Array.isArray(required) && required.includes(name));
    if (!isStandIn) kept.push([name, clean(entry, declared, root)]);
  }
  return Object.fromEntries(kept);
}

/** The schema itself, references followed, with its parts and alternatives. */
function viewsOf(schema: JsonValue, root: JsonSchema, nesting = 0): readonly JsonSchema[] {
  const target = resolveLocal(schema, root);
  if (!isJsonObject(target) || nesting > MAX_NESTING) return [];
  const parts = [target['allOf'], target['anyOf'], target['oneOf']].filter((list) => Array.isArray(list));
  return [target, ...parts.flat().flatMap((part) => viewsOf(part, root, nesting + 1))];
}

function propertyOf({ properties }: JsonSchema, name: string): JsonValue[] {
  const found = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return found === undefined ? [] : [found];
}

function takesNull(schema: JsonValue, root: JsonSchema, nesting = 0): boolean {
  const target = resolveLocal(schema, root);
  if (!isJsonObject(target) || nesting > MAX_NESTING) return target !== false;
  const { type, const: only, enum: values, allOf } = target;
  if (type !== undefined && type !== 'null' && !(Array.isArray(type) && type.includes('null'))) return false;
  if (only !== undefined && only !== null) return false;
  if (Array.isArray(values) && !values.includes(null)) return false;
  if (Array.isArray(allOf) && !allOf.every((part) => takesNull(part, root, nesting + 1))) return false;
  return [target['anyOf'], target['oneOf']].every(
    (list) => !Array.isArray(list) || list.some((part) => takesNull(part, root, nesting + 1)),
  );
}
