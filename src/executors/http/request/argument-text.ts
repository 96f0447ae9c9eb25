// Arguments as text for the places of a request: every value comes from a language model and is checked for its place.
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { isExactNumber } from '../../../lib/json/exact-json.ts';
import { childPointer } from '../../../lib/json/json-pointer.ts';
import type { Template } from '../../../lib/text/template.ts';
import { isHeaderValue } from '../../../lib/text/header-rules.ts';

export interface Violation {
  /** JSON pointer into the arguments. */
  readonly pointer: string;
  readonly message: string;
}

/** Writes one value for its place, or notes what is wrong with it and gives an empty text. */
export type Place = (value: JsonValue, argument: string, violations: Violation[]) => string;

/** A backslash is a slash to some servers, and there is no way to write one that all of them take for a letter. */
const UNSAFE_IN_SEGMENT = /[\\\x00-\x1f\x7f-\x9f]/;
const SEPARATORS = /[/\\]/;

/** An argument that was left out: missing, or null. */
export function isAbsent(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}

export function refuse(violations: Violation[], argument: string, message: string): string {
  violations.push({ pointer: childPointer('', argument), message });
  return '';
}

/** A part of one path segment: it can never become another segment, or a step up. */
export function inPath(slashes: 'encode' | 'refuse'): Place {
  return (value, argument, violations) => {
    const text = scalar(value, argument, violations);
    return text === undefined ? '' : pathText(text, argument, slashes, violations);
  };
}

/** A slash and a percent sign are sent as `%2F` and `%25`, which are letters of the segment. */
function pathText(
  text: string,
  argument: string,
  slashes: 'encode' | 'refuse',
  violations: Violation[],
): string {
  if (text === '' || text === '.' || text === '..') {
    return refuse(violations, argument, 'must not be empty, "." or ".." in a URL path');
  }
  if (UNSAFE_IN_SEGMENT.test(text)) {
    return refuse(violations, argument, 'must not hold "\\" or control characters in a URL path');
  }
  if (slashes === 'refuse' && /[/%]/.test(text)) {
    return refuse(violations, argument, 'must not hold "/" or "%" in the URL path of this tool');
  }
  if (climbs(text))
    return refuse(violations, argument, 'must not hold "." or ".." between slashes in a URL path');
  return encodeURIComponent(text);
}

/** A server that decodes what it gets, once or twice, must find no step up either. */
function climbs(text: string): boolean {
  let seen = text;
  for (let round = 0; round < 3; round += 1) {
    if (seen.split(SEPARATORS).some((segment) => segment === '.' || segment === '..')) return true;
    const decoded = seen.replaceAll(/%(?:2[eEfF]|5[cC]|25)/g, (code) => decodeURIComponent(code));
    if (decoded === seen) return false;
    seen = decoded;
  }
  return seen.split(SEPARATORS).some((segment) => segment === '.' || segment === '..');
}

export const inQuery: Place = (value, argument, violations) => {
  const text = scalar(value, argument, violations);
  return text === undefined ? '' : encodeURIComponent(text);
};

export const inHeader: Place = (value, argument, violations) => {
  const text = scalar(value, argument, violations);
  if (text === undefined || isHeaderValue(text)) return text ?? '';
  return refuse(violations, argument, 'must be printable ASCII on one line in a header');
};

export const inText: Place = (value, argument, violations) => scalar(value, argument, violations) ?? '';

/**
 * Fills a template: literals go through `literal` once, at load, and arguments through `place`. The result
 * gives undefined when an argument of the template was left out.
 */
export function compileText(
  template: Template,
  place: Place,
  literal: (text: string) => string = (text) => text,
): (args: JsonObject, violations: Violation[]) => string | undefined {
  const parts = template.parts.map((part) => (typeof part === 'string' ? literal(part) : part));
  return (args, violations) => {
    let text = '';
    for (const part of parts) {
      if (typeof part === 'string') {
        text += part;
        continue;
      }
      const value = args[part.name];
      if (isAbsent(value)) return undefined;
      text += place(value, part.name, violations);
    }
    return text;
  };
}

function scalar(value: JsonValue, argument: string, violations: Violation[]): string | undefined {
  if (isExactNumber(value)) return value.rawJSON;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') {
    refuse(violations, argument, 'must be a string, a number or a boolean here');
    return undefined;
  }
  if (value.isWellFormed()) return value;
  refuse(violations, argument, 'must be well-formed Unicode');
  return undefined;
}
