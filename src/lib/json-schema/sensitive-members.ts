// Members of an object that its schema marks as secret: `x-ute-sensitive: true`, or what forms say for the same, `writeOnly: true` and
// `format: password`.

interface JsonMap {
  readonly [key: string]: unknown;
}

const MARKS: readonly (readonly [keyword: string, value: unknown])[] = [
  ['x-ute-sensitive', true],
  ['writeOnly', true],
  ['format', 'password'],
];

export function isSensitive(schema: unknown): boolean {
  return isMap(schema) && MARKS.some(([keyword, value]) => schema[keyword] === value);
}

/** Names of the root's own properties that are marked. */
export function sensitiveMembers(schema: JsonMap): readonly string[] {
  const { properties } = schema;
  return isMap(properties) ? Object.keys(properties).filter((name) => isSensitive(properties[name])) : [];
}

/** Where something is marked that is no property of the root itself: it would not be told apart from the rest. */
export function misplacedMarks(schema: JsonMap): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  const walk = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) return;
    const isPlaced = path.length === 2 && path[0] === 'properties';
    if (!isPlaced && isSensitive(value)) found.push(path);
    for (const [key, inner] of Object.entries(value)) {
      if (!NO_SCHEMA.has(key) || path.at(-1) === 'properties') walk(inner, [...path, key]);
    }
  };
  walk(schema, []);
  return found;
}

/** What stands under these is a value. */
const NO_SCHEMA: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples']);

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
