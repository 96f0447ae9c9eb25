// The list of keys that secrets are encrypted with, as an environment has it: id:base64, the current one first.
import { KEY_BYTES, KEY_ID } from './sealed-text.ts';

const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/** A text says what is wrong with it, and nothing of what it holds. */
export function readKeyList(list: string): ReadonlyMap<string, Buffer> | string {
  const keys = new Map<string, Buffer>();
  for (const [at, part] of list.split(',').entries()) {
    const [id = '', encoded = '', ...rest] = part.trim().split(':');
    const which = `must be id:key, separated by commas: entry ${at + 1}`;
    if (!KEY_ID.test(id) || rest.length > 0)
      return `${which} has no id of 1 to 64 letters, digits, "_" or "-"`;
    const key = Buffer.from(encoded, 'base64');
    if (!BASE64.test(encoded) || key.length !== KEY_BYTES)
      return `${which} has no key of 32 bytes in base64 (openssl rand -base64 32)`;
    if (keys.has(id)) return `${which} has the id of another one`;
    keys.set(id, key);
  }
  return keys;
}
