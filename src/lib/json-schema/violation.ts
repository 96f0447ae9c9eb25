// Violations: where a value does not fit and what was expected there, in words that do not repeat the value.
import type { ErrorObject } from 'ajv';
import { childPointer, fromPointer } from '../json/json-pointer.ts';
import { NUMBER_TYPE } from './int64-schema.ts';

export interface Violation {
  /** RFC 6901: where in the value. A missing or an unexpected property is pointed at itself. */
  readonly pointer: string;
  /** What was expected there; for a wrong type also which was found. Never the value: it may be a secret. */
  readonly message: string;
}

const MAX_LISTED = 20;
const MAX_LISTED_LENGTH = 500;

/** `hint`: what is added about a property that nothing declares. */
export function violationOf(
  error: ErrorObject,
  root: unknown,
  hint: (name: string) => string = () => '',
): Violation {
  const { keyword, instancePath: pointer, params, propertyName } = error;
  const inside = (name: unknown) => childPointer(pointer, String(name));
  if (propertyName !== undefined)
    return { pointer: inside(propertyName), message: `has a name that ${wordsOf(error, propertyName)}` };
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
    case 'dependencies':
      return { pointer: inside(params['missingProperty']), message: requirement(params['property']) };
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = unexpectedName(error) ?? '';
      return { pointer: inside(name), message: `is not an expected property${hint(name)}` };
    }
    case 'propertyNames':
      return { pointer: inside(params['propertyName']), message: 'has a name that is not allowed' };
    default:
      return { pointer, message: wordsOf(error, valueAt(root, pointer)) };
  }
}

/** The name of a member that nothing declares, where the error is about one. */
export function unexpectedName({ params }: ErrorObject): string | undefined {
  const name: unknown = params['additionalProperty'] ?? params['unevaluatedProperty'];
  return typeof name === 'string' ? name : undefined;
}

function wordsOf({ keyword, params, message }: ErrorObject, value: unknown): string {
  switch (keyword) {
    case 'type':
    case NUMBER_TYPE:
      return `must be ${[params['type']].flat().join(' or ')}, found ${typeOf(value)}`;
    case 'enum':
      return `must be one of ${listed(params['allowedValues'])}`;
    case 'const':
      return `must be ${listed([params['allowedValue']])}`;
    case 'false schema':
      return 'is not allowed here';
    default:
      return message ?? `does not fit "${keyword}"`;
  }
}

function requirement(because: unknown): string {
  return typeof because === 'string' ? `is required when "${because}" is given` : 'is required';
}

/** The schema's own values: those may be told. */
function listed(values: unknown): string {
  const all = Array.isArray(values) ? values : [];
  const shown = all.slice(0, MAX_LISTED).map((value) => JSON.stringify(value));
  const text = shown.join(', ').slice(0, MAX_LISTED_LENGTH);
  return all.length > shown.length ? `${text} and ${all.length - shown.length} more` : text;
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const step of fromPointer(pointer)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as { [step: string]: unknown })[step];
  }
  return value;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'bigint') return 'integer';
  return Array.isArray(value) ? 'array' : typeof value;
}
