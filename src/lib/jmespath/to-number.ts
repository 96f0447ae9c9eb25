// What a value is as a number.
import type { JsonValue } from '../json/json-value.ts';

/** No number that fits has more characters: sign, integer, fraction, exponent. */
const LONGEST_NUMBER = 640;
const JSON_NUMBER = /^-?(?:0|[1-9]\d{0,308})(?:\.\d{1,308})?(?:[eE][+-]?\d{1,3})?$/;

export function toNumber(value: JsonValue): number | null {
  if (typeof value === 'number') return value;
  const number =
    typeof value === 'string' && value.length <= LONGEST_NUMBER && JSON_NUMBER.test(value)
      ? Number(value)
      : Number.NaN;
  return Number.isFinite(number) ? number : null;
}
