// Description notes: what a provider's schema cannot say is said to the model in words.
import type { JsonValue } from '../../contract/json.ts';

const MAX_NOTE_LENGTH = 200;

/** Keywords that carry meaning for the model. Others ($comment, readOnly, x-…) go without a word. */
const WORTH_TELLING = new Set(
  (
    'format pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf ' +
    'minItems maxItems uniqueItems contains minContains maxContains prefixItems additionalItems unevaluatedItems ' +
    'minProperties maxProperties propertyNames patternProperties additionalProperties unevaluatedProperties ' +
    'dependencies dependentRequired dependentSchemas enum const not if then else allOf anyOf oneOf ' +
    'contentEncoding contentMediaType contentSchema default examples $ref $dynamicRef'
  ).split(' '),
);

export function isWorthTelling(keyword: string): boolean {
  return WORTH_TELLING.has(keyword);
}

/** `pattern: "^a$"`; a value too long for a sentence is left out. */
export function noteOf(keyword: string, value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > MAX_NOTE_LENGTH ? keyword : `${keyword}: ${text}`;
}

export function withNotes(description: JsonValue | undefined, notes: readonly string[]): string | undefined {
  const text = typeof description === 'string' ? description : '';
  if (notes.length === 0) return text === '' ? undefined : text;
  return `${text} (${notes.join(', ')})`.trimStart();
}
