// JSON that says what the value says: JSON.stringify writes NaN and Infinity as null, and nobody would know.

// Taken before any code of a tool is loaded, which may put something else in their places.
const { stringify } = JSON;
const isFiniteNumber = (value: number): boolean => value - value === 0;
const tagOf = methodOf(Object.prototype, 'toString');
const numberIn = methodOf(Number.prototype, 'valueOf');

/** To be called with a value, whatever stands in the prototype then. */
function methodOf(prototype: object, name: string): (value: unknown) => unknown {
  return Function.prototype.call.bind(Reflect.get(prototype, name) as () => unknown);
}

/** Undefined for what JSON has no word for as a whole. Throws TypeError for a number that is none, and for a BigInt. */
export function writeJson(value: unknown): string | undefined {
  const text = stringify(value) as string | undefined;
  // Only a null can be one of them: most results are written once.
  if (text?.includes('null') === true) stringify(value, refuseNotFinite);
  return text;
}

function refuseNotFinite(_key: string, value: unknown): unknown {
  const number = typeof value === 'number' ? value : boxedIn(value);
  if (number !== undefined && !isFiniteNumber(number)) throw new TypeError(`${number} is not JSON`);
  return value;
}

/** JSON.stringify writes a Number object as its number. */
function boxedIn(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || tagOf(value) !== '[object Number]') return undefined;
  try {
    return numberIn(value) as number;
  } catch {
    // It only calls itself so.
    return undefined;
  }
}
