// What a header of MCP says: its text, or in base64 what no header can hold as it is.

const SENTINEL = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What a header holds as it is. Other characters are bytes, which everybody on the way reads as they like. */
const PLAIN = /^[\t\x20-\x7e]*$/;

/** Undefined: it is marked as base64 and is none, or none of a text; or it has characters that no header holds. */
export function decodedHeader(said: string): string | undefined {
  const text = said.trim();
  const base64 = SENTINEL.exec(text)?.[1];
  if (base64 === undefined) return PLAIN.test(text) ? text : undefined;
  if (!BASE64.test(base64)) return undefined;
  try {
    return UTF8.decode(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}
