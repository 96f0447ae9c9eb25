// Sub-schemas: which keywords of JSON Schema 2020-12 hold schemas, and how.

export const HOLDS_ONE: ReadonlySet<string> = new Set(
  (
    'additionalProperties items not if then else contains propertyNames ' +
    'unevaluatedItems unevaluatedProperties contentSchema'
  ).split(' '),
);
export const HOLDS_LIST: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
export const HOLDS_MAP: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'dependentSchemas',
]);
