// JSON that says what the value says: JSON.stringify writes NaN and Infinity as null, and nobody would know.

// Taken before any code of a tool is loaded.
const { stringify } = JSON;

/** Undefined for what JSON has no word for as a whole. Throws TypeError for a number that is none, and for a BigInt. */
export function writeJson(value: unknown): string | undefined {
  const text = stringify(value) as string | undefined;
  // Only a null can be one of them: most results are written once.
  if (text?.includes('null') === true) stringify(value, refuseNotFinite);
  return text;
}

function refuseNotFinite(_key: string, value: unknown): unknown {
  const number = Object.prototype.toString.call(value) === '[object Number]' ? Number(value) : value;
  if (typeof number === 'number' && !Number.isFinite(number)) throw new TypeError(`${number} is not JSON`);
  return value;
}
