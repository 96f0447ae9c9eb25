// A file that stands in an argument, as a language model writes it: its bytes in base64, its name, its type.

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const MEDIA_TYPE =
  /^[A-Za-z0-9!#$&^_.+-]{1,60}\/[A-Za-z0-9!#$&^_.+-]{1,100}(?:; ?charset=[A-Za-z0-9_.-]{1,40})?$/;
const LONGEST_NAME = 255;

/** Undefined: it is no base64. */
export function base64Bytes(text: string): Buffer | undefined {
  return BASE64.test(text) && text.replace(/=+$/, '').length % 4 !== 1
    ? Buffer.from(text, 'base64')
    : undefined;
}

export function isMediaType(value: unknown): value is string {
  return typeof value === 'string' && MEDIA_TYPE.test(value);
}

/** One name, and no path. */
export function isFileName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= LONGEST_NAME &&
    value.isWellFormed() &&
    !/[/\\\x00-\x1f\x7f]/.test(value)
  );
}
