// Names given to sub-schemas where no keyword makes a schema: Ajv looks for them everywhere, and stumbles over two alike.
import type { JsonPath } from '../../json/json-pointer.ts';
import type { SchemaProblem } from './schema-graph.ts';

const NAMES = ['$id', '$anchor', '$dynamicAnchor'];
/** Hold values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(['default', 'enum', 'const', 'examples']);
/** Hold schemas under names of their own, which may be those above. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
]);

/** Below the root, wherever an object is. The schema's depth is bounded before. */
export function hiddenNameProblems(root: object): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  look(root, [], problems);
  return problems;
}

function look(value: object, path: JsonPath, problems: SchemaProblem[]): void {
  const isMap = MAPS.has(String(path.at(-1)));
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === 'string') {
      if (path.length > 0 && !isMap && NAMES.includes(key))
        problems.push({ path: [...path, key], message: 'is supported at the root only' });
    } else if (typeof inner === 'object' && inner !== null && (isMap || !VALUES.has(key))) {
      look(inner as object, [...path, Array.isArray(value) ? Number(key) : key], problems);
    }
  }
}
