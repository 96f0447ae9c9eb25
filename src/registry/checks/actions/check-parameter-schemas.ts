// Checks of what a parameter says of the items of a list and the members of an object.
import type { JsonObject } from '../../../contract/json.ts';
import { createValidator } from '../../../lib/json-schema/validator.ts';
import { lintSchema } from '../../../lib/json-schema/lint/schema-linter.ts';
import type { Fault, Path } from '../../../lib/faults/faults.ts';
import type { ParameterDeclaration } from '../tool-spec-schema.ts';

export function faultsOfParameterSchemas(parameter: ParameterDeclaration): readonly Fault[] {
  const { type, items, properties, required_properties: required } = parameter;
  const misplaced = [
    ...(items !== undefined && type !== 'array' ? [notFor('items', 'an array', type)] : []),
    ...(properties !== undefined && type !== 'object' ? [notFor('properties', 'an object', type)] : []),
    ...faultsOfRequired(required, properties),
  ];
  if (misplaced.length > 0 || (items === undefined && properties === undefined)) return misplaced;
  const schema = schemaOf(parameter);
  const faults = lintSchema(schema).map(({ path, message }) => ({ path, message }));
  return faults.length > 0 ? faults : faultsOfValues(parameter, schema);
}

function notFor(field: string, what: string, type: string): Fault {
  return { path: [field], isKey: true, message: `${field} is for ${what}, not for type ${type}` };
}

function faultsOfRequired(
  required: readonly string[] | undefined,
  properties: object | undefined,
): readonly Fault[] {
  if (required === undefined) return [];
  if (properties === undefined)
    return [{ path: ['required_properties'], isKey: true, message: 'names properties, and there are none' }];
  return required.flatMap((name, index) =>
    Object.hasOwn(properties, name)
      ? []
      : [{ path: ['required_properties', index], message: `"${name}" is not among the properties` }],
  );
}

/** As lists of tools and the check of arguments have it. */
function schemaOf({
  type,
  items,
  properties,
  required_properties: required,
}: ParameterDeclaration): JsonObject {
  return {
    type,
    ...(items && { items: items as JsonObject }),
    ...(properties && { properties: properties as JsonObject }),
    ...(required && { required: [...required] }),
  };
}

/** Values that stand in the declaration itself. */
function faultsOfValues(
  { default: fallback, enum: allowed = [] }: ParameterDeclaration,
  schema: object,
): readonly Fault[] {
  const validator = createValidator(schema);
  const faultOf = (value: unknown, path: Path): readonly Fault[] => {
    const [violation] = validator.validate(structuredClone(value));
    if (violation === undefined) return [];
    return [
      {
        path,
        message: `does not fit items and properties: ${violation.pointer} ${violation.message}`.trim(),
      },
    ];
  };
  return [
    ...allowed.flatMap((value, index) => faultOf(value, ['enum', index])),
    ...(fallback === undefined ? [] : faultOf(fallback, ['default'])),
  ];
}
