// Where in a value a schema expects an integer of format int64: there, and only there, text of digits stands for a number.
import { int64Of } from '../json/int64.ts';
import { toPointer } from '../json/json-pointer.ts';
import { isInt64, takesText } from './int64-schema.ts';
import { placesOf, type Place } from './value-places.ts';

/** Text at such a place, and where to put something else in its stead. */
export interface Int64Text {
  readonly text: string;
  readonly pointer: () => string;
  readonly put: (instead: unknown) => void;
}

export interface Int64Places {
  /** Every integer that stands as text, in digits as JSON writes them, at a place that is only for int64. */
  textsIn(value: unknown): readonly Int64Text[];
  /** Whether the value as a whole is such a place. */
  readonly isWhole: boolean;
}

/** The schema must have passed lintSchema. Undefined: it has no such place. */
export function int64PlacesOf(schema: object): Int64Places | undefined {
  if (!JSON.stringify(schema).includes('"int64"')) return undefined;
  const start = placesOf(schema, {
    counts: isInt64,
    mark: (schemas) => schemas.some(isInt64) && !schemas.some(takesText),
  });
  if (start === undefined) return undefined;
  return { textsIn: (value) => (isContainer(value) ? found(value, start) : []), isWhole: start.mark };
}

/**
 * For a check: integers beyond 2^53 as BigInt, smaller ones as numbers, in the value itself. `giveBack` makes them text
 * again, all of them or, with `keepsNumbers`, those that no double holds.
 */
export function takeIntegers(
  places: Int64Places,
  value: unknown,
  keepsNumbers: boolean,
): { readonly value: unknown; readonly giveBack: () => void } {
  if (typeof value === 'string')
    return { value: places.isWhole && int64Of(value) !== undefined ? numberOf(value) : value, giveBack() {} };
  const texts = places.textsIn(value);
  for (const { text, put } of texts) put(numberOf(text));
  const giveBack = (): void => {
    for (const { text, put } of texts) if (!keepsNumbers || !isSafe(text)) put(text);
  };
  return { value, giveBack };
}

function numberOf(text: string): number | bigint {
  return isSafe(text) ? Number(text) : BigInt(text);
}

function isSafe(text: string): boolean {
  return Number.isSafeInteger(Number(text));
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function found(root: object, start: Place<boolean>): Int64Text[] {
  const texts: Int64Text[] = [];
  const path: (string | number)[] = [];
  const into = (container: object, place: Place<boolean>): void => {
    const isArray = Array.isArray(container);
    const members = container as { [step: string | number]: unknown };
    for (const key of Object.keys(container)) {
      const step = isArray ? Number(key) : key;
      const part = isArray ? place.item(Number(key)) : place.member(key);
      if (part === undefined) continue;
      const value = members[step];
      path.push(step);
      if (typeof value === 'string' && part.mark && int64Of(value) !== undefined) {
        const at = [...path];
        const put = (instead: unknown): void => void (members[step] = instead);
        texts.push({ text: value, pointer: () => toPointer(at), put });
      } else if (typeof value === 'object' && value !== null) into(value, part);
      path.pop();
    }
  };
  into(root, start);
  return texts;
}
