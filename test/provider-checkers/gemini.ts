// What Gemini refuses: the published subset of JSON Schema, the rules of FunctionDeclaration, and the error messages of its API.
import { everySchema, hasCycle, isSchema, targetOf, typesOf, type Schema } from './walk.ts';

const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const PARAMETER = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;
const KEYWORDS = new Set(
  (
    '$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum ' +
    'anyOf oneOf properties additionalProperties required propertyOrdering'
  ).split(' '),
);
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

export function refusalsOfGemini(declaration: {
  readonly name?: unknown;
  readonly description?: unknown;
  readonly parametersJsonSchema?: unknown;
}): readonly string[] {
  const { name, description, parametersJsonSchema: root } = declaration;
  const faults: string[] = [];
  if (typeof name !== 'string' || !NAME.test(name)) faults.push('name: Invalid function name');
  if (typeof description !== 'string' || description === '') faults.push('description: is required');
  if (!isSchema(root)) return [...faults, 'parametersJsonSchema: is no object'];
  if (root['type'] !== 'object') faults.push('the schema must describe an object');
  for (const { schema, at } of everySchema(root)) {
    if (isSchema(schema)) faults.push(...faultsOfSchema(schema, at, root));
    else if (!at.endsWith('/additionalProperties')) faults.push(`${at}: a schema is an object`);
  }
  if (hasCycle(root, requiredParts)) faults.push('a cyclic reference is used in a required property');
  return faults;
}

function faultsOfSchema(schema: Schema, at: string, root: unknown): readonly string[] {
  const faults: string[] = [];
  const { properties, required, enum: values, $ref } = schema;
  for (const keyword of Object.keys(schema))
    if (!KEYWORDS.has(keyword)) faults.push(`${at}: Unknown name "${keyword}": Cannot find field`);
  for (const type of typesOf(schema))
    if (!TYPES.includes(String(type))) faults.push(`${at}: no type ${String(type)}`);
  if ($ref !== undefined) {
    if (targetOf($ref, root) === undefined || typeof $ref !== 'string' || !$ref.startsWith('#/$defs/'))
      faults.push(`${at}/$ref leads to no entry of $defs`);
    const beside = Object.keys(schema).filter((keyword) => !keyword.startsWith('$'));
    if (beside.length > 0) faults.push(`${at}: ${beside.join()} beside $ref`);
  }
  for (const name of isSchema(properties) ? Object.keys(properties) : [])
    if (!PARAMETER.test(name)) faults.push(`${at}/properties: no parameter is called ${name}`);
  for (const name of Array.isArray(required) ? required : [])
    if (!isSchema(properties) || !Object.hasOwn(properties, String(name)))
      faults.push(`${at}/required: property is not defined: ${String(name)}`);
  if (values !== undefined) {
    if (!Array.isArray(values) || !values.every((value) => typeof value === 'string'))
      faults.push(`${at}/enum: Invalid value (TYPE_STRING)`);
    if (schema['type'] !== 'string') faults.push(`${at}/enum: only allowed for STRING type`);
  }
  if (typesOf(schema).includes('array') && !isSchema(schema['items']))
    faults.push(`${at}/items: missing field`);
  if (Array.isArray(schema['anyOf']) && schema['anyOf'].length === 0) faults.push(`${at}/anyOf: is empty`);
  return faults;
}

/** What every value of the schema must go into. */
function requiredParts({ properties, required, items, prefixItems, anyOf }: Schema): readonly unknown[] {
  const names = Array.isArray(required) ? required : [];
  const members = isSchema(properties) ? Object.entries(properties) : [];
  return [
    ...members.filter(([name]) => names.includes(name)).map(([, part]) => part),
    items,
    ...(Array.isArray(prefixItems) ? prefixItems : []),
    ...(Array.isArray(anyOf) ? anyOf : []),
  ];
}
