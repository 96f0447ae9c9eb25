// Checks of actions and their parameters that a schema cannot say: names once, defaults that fit, limits that mean something.
import { didYouMean } from '../../../lib/text/did-you-mean.ts';
import { faultsOfParameterSchemas } from './check-parameter-schemas.ts';
import { foundText, type Fault, type Path } from '../../../lib/faults/faults.ts';
import type { ActionDeclaration, ParameterDeclaration } from '../tool-spec-schema.ts';

const MAX_FUNCTION_NAME = 128;

/** `configFields` undefined: the tool has no config_schema, or one that is wrong in itself. */
export function faultsOfActions(
  toolName: string,
  actions: readonly ActionDeclaration[],
  configFields: readonly string[],
): readonly Fault[] {
  const faults: Fault[] = [];
  const names = new Set<string>();
  for (const [index, { name, parameters }] of actions.entries()) {
    const path = ['actions', index];
    if (names.has(name))
      faults.push({ path: [...path, 'name'], message: `the action "${name}" is declared twice` });
    names.add(name);
    if (`${toolName}.${name}`.length > MAX_FUNCTION_NAME) {
      const message = `"${toolName}.${name}" is longer than ${MAX_FUNCTION_NAME} characters`;
      faults.push({ path: [...path, 'name'], message });
    }
    faults.push(...faultsOfParameters(parameters, [...path, 'parameters'], configFields));
  }
  return faults;
}

function faultsOfParameters(
  parameters: readonly ParameterDeclaration[],
  base: Path,
  configFields: readonly string[],
): readonly Fault[] {
  const names = new Set<string>();
  return parameters.flatMap((parameter, index) => {
    const path = [...base, index];
    const twice = names.has(parameter.name) || parameter.name === '__proto__';
    names.add(parameter.name);
    const faults = faultsOfParameter(parameter, configFields).map((fault) => ({
      ...fault,
      path: [...path, ...fault.path],
    }));
    return twice
      ? [
          { path: [...path, 'name'], message: `the parameter "${parameter.name}" is declared twice` },
          ...faults,
        ]
      : faults;
  });
}

function faultsOfParameter(
  parameter: ParameterDeclaration,
  configFields: readonly string[],
): readonly Fault[] {
  const { type, default: fallback, enum: allowed, min_value: min, max_value: max } = parameter;
  const faults: Fault[] = [];
  const isNumeric = type === 'integer' || type === 'number';
  for (const [field, bound] of [
    ['min_value', min],
    ['max_value', max],
  ] as const) {
    if (bound !== undefined && !isNumeric) {
      faults.push({
        path: [field],
        isKey: true,
        message: `${field} is for an integer or a number, not for type ${type}`,
      });
    }
  }
  if (min !== undefined && max !== undefined && min > max) {
    faults.push({ path: ['min_value'], message: `min_value ${min} is greater than max_value ${max}` });
  }
  for (const [index, value] of (allowed ?? []).entries()) {
    const message = valueProblem(value, { type, min, max });
    if (message !== undefined) faults.push({ path: ['enum', index], message });
  }
  faults.push(...faultsOfDefault(parameter), ...faultsOfParameterSchemas(parameter));
  if (fallback !== undefined) {
    const message = valueProblem(fallback, { type, min, max, allowed });
    if (message !== undefined) faults.push({ path: ['default'], message });
  }
  return [...faults, ...faultsOfConfigDefault(parameter, configFields)];
}

function faultsOfDefault({
  required,
  default: fallback,
  default_from_config: field,
}: ParameterDeclaration): readonly Fault[] {
  if (!required) return [];
  const message = 'a required parameter is always given: leave out either this or required';
  return [
    ...(fallback === undefined ? [] : [{ path: ['default'], isKey: true, message }]),
    ...(field === undefined ? [] : [{ path: ['default_from_config'], isKey: true, message }]),
  ];
}

function faultsOfConfigDefault(
  { default_from_config: field }: ParameterDeclaration,
  known: readonly string[],
): readonly Fault[] {
  if (field === undefined || known.includes(field)) return [];
  const near = didYouMean(field, known);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  return [
    {
      path: ['default_from_config'],
      message: `expected a property of config_schema, found "${field}"${hint}`,
    },
  ];
}

interface ValueRules {
  readonly type: ParameterDeclaration['type'];
  readonly min?: number;
  readonly max?: number;
  readonly allowed?: readonly unknown[];
}

function valueProblem(value: unknown, { type, min, max, allowed }: ValueRules): string | undefined {
  const kind = TYPES[type];
  if (!kind.accepts(value)) return `expected ${kind.words}, ${foundText(value)}`;
  if (typeof value === 'number') {
    if (min !== undefined && value < min) return `expected at least min_value ${min}, found ${value}`;
    if (max !== undefined && value > max) return `expected at most max_value ${max}, found ${value}`;
  }
  const text = JSON.stringify(value);
  if (allowed === undefined || allowed.some((one) => JSON.stringify(one) === text)) return undefined;
  return `expected one of the values of enum, ${foundText(value)}`;
}

const TYPES: Record<
  ParameterDeclaration['type'],
  { accepts(value: unknown): boolean; readonly words: string }
> = {
  string: { accepts: (value) => typeof value === 'string', words: 'a string' },
  integer: { accepts: (value) => Number.isInteger(value), words: 'an integer' },
  number: { accepts: (value) => typeof value === 'number', words: 'a number' },
  boolean: { accepts: (value) => typeof value === 'boolean', words: 'true or false' },
  array: { accepts: Array.isArray, words: 'a list' },
  object: {
    accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    words: 'a map',
  },
  datetime: { accepts: isDateTime, words: 'a date and time such as 2026-01-30T09:00:00Z' },
};

/** RFC 3339, the profile of ISO 8601 that the schema's format date-time means. */
function isDateTime(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const match = /^(\d{4})-(\d\d)-(\d\d)[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.exec(value);
  if (match === null || Number.isNaN(Date.parse(value.replace(' ', 'T')))) return false;
  const [, year, month, day] = match.map(Number);
  // Date.parse takes 31 February for 3 March.
  return new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day)).getUTCDate() === day;
}
