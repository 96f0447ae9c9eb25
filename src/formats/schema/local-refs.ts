// References inside one schema: what `#/$defs/name` and `#/definitions/name` lead to.
import { isJsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';

/** What a `$ref` to an entry of the root's `$defs` stands for; anything else as it is. */
export function resolveLocal(schema: JsonValue | undefined, root: JsonSchema): JsonValue | undefined {
  let current = schema;
  // A chain of references is short; a circle of them is cut.
  for (let hops = 0; hops < 8 && isJsonObject(current); hops += 1) {
    const name = localDefinition(current['$ref']);
    if (name === undefined) return current;
    current = definition(root['$defs'], name) ?? definition(root['definitions'], name);
  }
  return current;
}

/** `name` of `#/$defs/name` or `#/definitions/name`. */
export function localDefinition(ref: JsonValue | undefined): string | undefined {
  const found = typeof ref === 'string' ? /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(ref) : null;
  return found?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
}

function definition(holder: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;
}
