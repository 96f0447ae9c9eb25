// A schema as the checkers walk it: every place where JSON Schema 2020-12 has a schema, with its pointer. Knows nothing of src.

export type Schema = { readonly [keyword: string]: unknown };

export interface Visited {
  readonly schema: unknown;
  /** `/properties/a/items`; empty for the root. */
  readonly at: string;
}

const ONE = [
  'additionalProperties',
  'items',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
  'additionalItems',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function everySchema(root: unknown): readonly Visited[] {
  const found: Visited[] = [];
  const visit = (schema: unknown, at: string): void => {
    found.push({ schema, at });
    if (!isSchema(schema)) return;
    for (const keyword of ONE) if (keyword in schema) visit(schema[keyword], `${at}/${keyword}`);
    for (const keyword of LISTS) {
      const list = schema[keyword];
      if (Array.isArray(list)) list.forEach((part, index) => visit(part, `${at}/${keyword}/${index}`));
    }
    for (const keyword of MAPS) {
      const map = schema[keyword];
      if (isSchema(map)) for (const name of Object.keys(map)) visit(map[name], `${at}/${keyword}/${name}`);
    }
  };
  visit(root, '');
  return found;
}

/** What a `#/…` leads to; undefined where nothing is there. */
export function targetOf(ref: unknown, root: unknown): unknown {
  if (ref === '#') return root;
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Schema)[name];
  }
  return at;
}

export function typesOf({ type }: Schema): readonly unknown[] {
  return type === undefined ? [] : Array.isArray(type) ? type : [type];
}

/** Whether from some schema a reference leads back to it, along what `follow` gives of each. */
export function hasCycle(root: unknown, follow: (schema: Schema) => readonly unknown[]): boolean {
  const state = new Map<unknown, 'open' | 'done'>();
  const visit = (schema: unknown): boolean => {
    if (!isSchema(schema) || state.get(schema) === 'done') return false;
    if (state.get(schema) === 'open') return true;
    state.set(schema, 'open');
    const next = '$ref' in schema ? [targetOf(schema['$ref'], root), ...follow(schema)] : follow(schema);
    const found = next.some(visit);
    state.set(schema, 'done');
    return found;
  };
  return everySchema(root).some(({ schema }) => visit(schema));
}
