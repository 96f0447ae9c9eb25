// Arguments in PostgreSQL's text format, by the type that the server gave each parameter. Never part of the SQL.
import type { JsonValue } from '../../contract/json.ts';
import { childPointer } from '../../lib/json/json-pointer.ts';

export interface Violation {
  /** JSON pointer into the arguments. */
  readonly pointer: string;
  readonly message: string;
}

export type EncodeArgument = (value: JsonValue, argument: string, violations: Violation[]) => string | null;

/** `type` as the server names it: `integer`, `text[]`, `jsonb`. */
export function encoderOf(type: string): EncodeArgument {
  if (type === 'json' || type === 'jsonb') return json;
  if (type.endsWith('[]')) return array;
  return scalar;
}

const json: EncodeArgument = (value, argument, violations) => {
  if (value === null) return null;
  const text = JSON.stringify(value);
  // PostgreSQL's jsonb holds no \u0000, its json no lone surrogate that anyone could read.
  if (/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(text)) {
    return refuse(violations, argument, 'must not hold NUL characters or lone surrogates');
  }
  return text;
};

const scalar: EncodeArgument = (value, argument, violations) => {
  if (value === null) return null;
  if (typeof value === 'object') {
    return refuse(violations, argument, 'must be a single value here, not a list or an object');
  }
  const text = String(value);
  return isSendable(text, argument, violations) ? text : null;
};

const array: EncodeArgument = (value, argument, violations) => {
  if (value === null) return null;
  if (!Array.isArray(value)) return refuse(violations, argument, 'must be a list here');
  const items = value.map((item) => {
    if (item === null) return 'NULL';
    if (typeof item === 'object') {
      refuse(violations, argument, 'must be a list of single values');
      return '';
    }
    const text = String(item);
    return isSendable(text, argument, violations) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : '';
  });
  return `{${items.join(',')}}`;
};

/** The protocol ends a text at NUL, and a lone surrogate would arrive as another character. */
function isSendable(text: string, argument: string, violations: Violation[]): boolean {
  if (!text.includes('\0') && text.isWellFormed()) return true;
  refuse(violations, argument, 'must not hold NUL characters or lone surrogates');
  return false;
}

function refuse(violations: Violation[], argument: string, message: string): null {
  violations.push({ pointer: childPointer('', argument), message });
  return null;
}
