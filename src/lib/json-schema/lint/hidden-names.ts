// Names given to sub-schemas where no keyword makes a schema: Ajv looks for them everywhere, and stumbles over two alike.
import type { JsonPath } from '../../json/json-pointer.ts';
import type { SchemaNode, SchemaProblem } from './schema-graph.ts';

const ANCHOR = '$anchor';
const NAMES = ['$id', ANCHOR, '$dynamicAnchor'];
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
export function hiddenNameProblems(root: object, nodes: readonly SchemaNode[]): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  look(root, [], { problems, schemas: new Set(nodes.map(({ schema }) => schema)) });
  return problems;
}

interface Search {
  readonly problems: SchemaProblem[];
  readonly schemas: ReadonlySet<object>;
}

function look(value: object, path: JsonPath, search: Search): void {
  const { problems, schemas } = search;
  const isMap = MAPS.has(String(path.at(-1)));
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === 'string') {
      // That of a schema is taken out before Ajv sees it.
      if (path.length === 0 || isMap || !NAMES.includes(key) || (key === ANCHOR && schemas.has(value)))
        continue;
      problems.push({ path: [...path, key], message: 'is supported at the root only' });
    } else if (typeof inner === 'object' && inner !== null && (isMap || !VALUES.has(key))) {
      look(inner as object, [...path, Array.isArray(value) ? Number(key) : key], search);
    }
  }
}
