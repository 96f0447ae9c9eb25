// Parameters that a toolset closes: taken out of what callers see, and the spellings under which nobody may give them.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { propertySpellings } from '../../lib/json-schema/property-names.ts';
import { createValidator } from '../../lib/json-schema/validator.ts';
import type { ToolOverride } from './toolset-definition.ts';

export interface ClosedParameters {
  readonly inputSchema: JsonSchema;
  readonly closed: ReadonlySet<string>;
}

/** Keywords beside `properties` that may say something of a parameter. */
const BESIDE = [
  'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas', 'dependencies',
  'patternProperties', 'propertyNames', 'minProperties', 'maxProperties',
]; // oxfmt-ignore
/** Whole values of the arguments: they would show what is closed. */
const WHOLE_VALUES = ['default', 'examples', 'const', 'enum'];

/** A text: why the tool cannot be offered so. */
export function closeParameters(
  fn: ToolFunction,
  { fixed = {}, hidden = [] }: ToolOverride,
): ClosedParameters | string {
  const names = [...Object.keys(fixed), ...hidden];
  const { inputSchema: whole } = fn;
  const { properties } = whole;
  if (!isJsonObject(properties)) return `has no parameter "${names[0]}"`;
  const unknown = names.find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) return `has no parameter "${unknown}"`;
  const fault =
    saidElsewhere(whole, names) ?? missingDefault(fn, properties, hidden) ?? misfit(whole, properties, fixed);
  if (fault !== undefined) return fault;
  const inputSchema = without(whole, new Set(names));
  const spellings = propertySpellings(whole);
  const shown = propertySpellings(inputSchema);
  const changed = [...shown].find(([name, spelling]) => spellings.get(name) !== spelling);
  if (changed !== undefined) return `would have its parameter "${changed[0]}" called otherwise by providers`;
  return { inputSchema, closed: new Set([...names, ...names.flatMap((name) => spellings.get(name) ?? [])]) };
}

function without(whole: JsonSchema, closed: ReadonlySet<string>): JsonSchema {
  const { properties, required, ...rest } = whole;
  const open = Object.entries(properties as JsonObject).filter(([name]) => !closed.has(name));
  for (const keyword of WHOLE_VALUES) delete (rest as Record<string, JsonValue>)[keyword];
  return {
    ...rest,
    properties: Object.fromEntries(open),
    ...(Array.isArray(required) && {
      required: required.filter((name) => typeof name !== 'string' || !closed.has(name)),
    }),
  };
}

/** What would still show the parameter, or ask for it. */
function saidElsewhere(whole: JsonSchema, names: readonly string[]): string | undefined {
  if (whole['$ref'] !== undefined || whole['$dynamicRef'] !== undefined)
    return 'has its parameters behind a $ref: they cannot be fixed or hidden';
  const beside = BESIDE.filter((keyword) => whole[keyword] !== undefined);
  const text = JSON.stringify(beside.map((keyword) => whole[keyword]));
  const name = names.find((each) => beside.length > 0 && text.includes(JSON.stringify(each)));
  if (name === undefined && !beside.some((keyword) => /Properties$|^propertyNames$/.test(keyword)))
    return undefined;
  return `says more of its parameters under ${beside.join(', ')}: they cannot be fixed or hidden`;
}

function missingDefault(
  { inputSchema: { required }, action }: ToolFunction,
  properties: JsonObject,
  hidden: readonly string[],
): string | undefined {
  const name = hidden.find((each) => {
    const schema = properties[each];
    const isNeeded = Array.isArray(required) && required.includes(each);
    const hasDefault =
      (isJsonObject(schema) && schema['default'] !== undefined) ||
      action?.parameters.some(
        ({ name: own, defaultFromConfig }) => own === each && defaultFromConfig !== undefined,
      );
    return isNeeded && hasDefault !== true;
  });
  return name && `needs the parameter "${name}", which has no default: it can be fixed, and not hidden`;
}

function misfit(
  { $defs, definitions }: JsonSchema,
  properties: JsonObject,
  fixed: NonNullable<ToolOverride['fixed']>,
): string | undefined {
  const names = Object.keys(fixed);
  if (names.length === 0) return undefined;
  const parts = Object.fromEntries(names.map((name) => [name, properties[name] ?? {}]));
  const schema = {
    ...($defs && { $defs }),
    ...(definitions && { definitions }),
    type: 'object',
    properties: parts,
  };
  const [violation] = createValidator(schema).validate(structuredClone(fixed));
  return violation && `does not take what is fixed: ${violation.pointer} ${violation.message}`;
}
