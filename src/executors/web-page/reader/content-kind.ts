// Which bodies are text that a model can read, by what the server says of them and by how they begin.

export type ContentKind = 'html' | 'text';

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;
const TEXT =
  /^(?:text\/.*|application\/(?:[^;\s]+\+)?(?:json|xml|yaml)|application\/(?:x-)?(?:javascript|ndjson|jsonlines|toml))$/;
/** Said of anything by servers that do not know. */
const UNKNOWN = /^(?:|application\/octet-stream|binary\/octet-stream|application\/unknown|\*\/\*)$/;
const BEGINS_AS_HTML =
  /^\s*(?:<!--|<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]|<title[\s>]|<meta\s|<div[\s>]|<p[\s>]|<h1[\s>])/i;
const SNIFFED_BYTES = 1_024;

const NAMES: readonly (readonly [begins: string, name: string])[] = [
  ['%PDF-', 'a PDF document'],
  ['PK\u0003\u0004', 'a ZIP archive or an office document'],
  ['\u0089PNG', 'a picture'],
  ['\u00ff\u00d8\u00ff', 'a picture'],
  ['GIF8', 'a picture'],
  ['\u001f\u008b', 'a gzip archive'],
  ['\u00d0\u00cf\u0011\u00e0', 'an office document'],
];

/** `type` as in the header; undefined: what the type says is no text, so that nothing of the body is worth being fetched. */
export function kindOfType(type: string): ContentKind | 'unknown' | undefined {
  const media = mediaTypeOf(type);
  if (HTML.test(media)) return 'html';
  if (TEXT.test(media)) return 'text';
  return UNKNOWN.test(media) ? 'unknown' : undefined;
}

export function mediaTypeOf(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** What the bytes are if they are no text, for an error's message. A text in UTF-16 has zeros too, and says so first. */
export function notTextAs(body: Uint8Array): string | undefined {
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, SNIFFED_BYTES));
  const begins = head.toString('latin1');
  const known = NAMES.find(([start]) => begins.startsWith(start));
  if (known !== undefined) return known[1];
  const isUtf16 = begins.startsWith('\u00ff\u00fe') || begins.startsWith('\u00fe\u00ff');
  return !isUtf16 && head.includes(0) ? 'binary data' : undefined;
}

export function looksLikeHtml(text: string): boolean {
  return BEGINS_AS_HTML.test(text.slice(0, SNIFFED_BYTES));
}
