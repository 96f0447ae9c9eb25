// Bodies that are not JSON: forms, multipart with files, text and files by themselves. What is known is put together here; a file by
// URL is fetched when the request is sent.
import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import type { RequestOptions } from '../options-schema.ts';
import type { BodyPartRule } from '../request-fields.ts';
import { isAbsent, refuse, type Violation } from './argument-text.ts';
import { fileArgument, type FileArgument } from './file-argument.ts';
import { writePairs, type PairStyle } from './value-pairs.ts';

export interface BodyPart {
  readonly name: string;
  readonly content: string | FileArgument;
  readonly contentType: string | undefined;
}

/** Of a request that has files, or parts. */
export interface PendingBody {
  readonly isMultipart: boolean;
  readonly parts: readonly BodyPart[];
}

export type BodyAs = NonNullable<RequestOptions['body_as']>;

/** What a filled body is sent as; undefined where it cannot be: what is wrong is noted. */
export function encodeBody(
  body: JsonValue,
  request: RequestOptions,
  violations: Violation[],
): string | PendingBody | undefined {
  const { body_as: kind = 'json', body_parts: rules = {}, file_urls: urls } = request;
  const withUrls = urls !== undefined;
  if (kind === 'json') return JSON.stringify(body);
  if (kind === 'text') return typeof body === 'string' ? body.toWellFormed() : JSON.stringify(body);
  if (kind === 'file') {
    const content = fileArgument(body, 'body', withUrls, violations);
    return content && { isMultipart: false, parts: [{ name: 'body', content, contentType: undefined }] };
  }
  if (!isJsonObject(body)) return void refuse(violations, 'body', 'must be an object: it is sent as a form');
  if (kind === 'form') return formOf(body, rules, violations);
  return { isMultipart: true, parts: partsOf(body, rules, withUrls, violations) };
}

function formOf(
  body: JsonObject,
  rules: { readonly [name: string]: BodyPartRule },
  violations: Violation[],
): string {
  const pairs: string[] = [];
  const reserved = new Set([...Object.keys(body), ...Object.keys(rules)]);
  for (const [name, value] of Object.entries(body)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    const said = rule?.style === undefined ? pairStyleOf(rule, value) : rule;
    writePairs({ name: encodeURIComponent(name), argument: name, reserved }, value, said, pairs, violations);
  }
  return pairs.join('&');
}

/** Without a style: a list is a pair for each item, an object JSON text, as OpenAPI has it; who says `explode` means style form. */
function pairStyleOf(rule: BodyPartRule | undefined, value: JsonValue): PairStyle {
  if (rule?.explode !== undefined) return { style: 'form', explode: rule.explode };
  return { style: isJsonObject(value) ? 'json' : 'form' };
}

/** Each is a request of the gateway's to a host that the caller names. */
const MOST_URLS = 20;

function partsOf(
  body: JsonObject,
  rules: { readonly [name: string]: BodyPartRule },
  withUrls: boolean,
  violations: Violation[],
): readonly BodyPart[] {
  const parts: BodyPart[] = [];
  let urls = 0;
  for (const [name, value] of Object.entries(body)) {
    const { content_type: said, file: isFile = false } =
      (Object.hasOwn(rules, name) ? rules[name] : undefined) ?? {};
    const asOne = said !== undefined && /json/i.test(said) && !isFile;
    for (const item of Array.isArray(value) && !asOne ? value : [value]) {
      if (isAbsent(item)) continue;
      if (isFile) {
        const content = fileArgument(item, name, withUrls, violations);
        if (content?.source instanceof URL) urls += 1;
        if (urls > MOST_URLS) {
          refuse(
            violations,
            name,
            `must not bring the files given by URL to more than ${MOST_URLS} in one call`,
          );
          return parts;
        }
        if (content !== undefined) parts.push({ name, content, contentType: said });
      } else if (typeof item === 'object' && !JSON.isRawJSON(item)) {
        parts.push({ name, content: JSON.stringify(item), contentType: said ?? 'application/json' });
      } else {
        const content = typeof item === 'string' ? item.toWellFormed() : JSON.stringify(item);
        parts.push({ name, content, contentType: said });
      }
    }
  }
  return parts;
}

export interface LoadedFile {
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
}

/** As it goes over the wire. `load` gives the bytes of a file. */
export async function assembleBody(
  { isMultipart, parts }: PendingBody,
  load: (file: FileArgument) => Promise<LoadedFile>,
): Promise<{ readonly body: Buffer; readonly contentType: string }> {
  const [first] = parts;
  if (!isMultipart && first !== undefined && typeof first.content !== 'string') {
    const { bytes, contentType = 'application/octet-stream' } = await load(first.content);
    return { body: bytes, contentType };
  }
  const boundary = `ute-${randomBytes(16).toString('hex')}`;
  const chunks: Buffer[] = [];
  for (const part of parts) {
    const { content } = part;
    const file = typeof content === 'string' ? undefined : content;
    const loaded = file === undefined ? undefined : await load(file);
    const type =
      file?.contentType ?? part.contentType ?? loaded?.contentType ?? (file && 'application/octet-stream');
    const filename = file === undefined ? '' : `; filename="${quoted(file.filename ?? 'file')}"`;
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(part.name)}"${filename}\r\n`;
    chunks.push(Buffer.from(`${head}${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`));
    chunks.push(
      loaded?.bytes ?? Buffer.from(typeof content === 'string' ? content : ''),
      Buffer.from('\r\n'),
    );
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return { body: Buffer.concat(chunks), contentType: `multipart/form-data; boundary=${boundary}` };
}

/** As browsers write it: nothing ends the quotes, or the line. */
function quoted(text: string): string {
  return text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}

/** For a dry run: what is sent, files by their size or URL. */
export function shownBody({ isMultipart, parts }: PendingBody): JsonValue {
  const shown = parts.map(({ name, content, contentType }): JsonObject => {
    if (typeof content === 'string')
      return { name, ...(contentType !== undefined && { content_type: contentType }), text: content };
    const { source, filename } = content;
    const what: JsonObject = source instanceof URL ? { url: source.href } : { bytes: source.length };
    return { name, ...(filename !== undefined && { filename }), ...what };
  });
  return isMultipart ? { parts: shown } : (shown[0] ?? null);
}
