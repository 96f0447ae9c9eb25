// Reads an upstream's answer into a tool's result: JSON bounded in depth, or text.
import type { JsonValue } from '../../contract/json.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { inexactNumberIn, withExactNumbers } from '../../lib/json/exact-json.ts';
import { inSlices } from '../../lib/concurrency/in-slices.ts';
import { boundOf, MOST_LEVELS, MOST_NAMES, MOST_VALUES, tooMuchIn } from '../../lib/json/json-bounds.ts';
import { LargeJsonError, LARGE_JSON_BYTES } from '../../lib/large-json/limits.ts';
import { readLargeJson } from '../../lib/large-json/read-json.ts';
import type { HttpResponse } from '../../ports/egress/http-client.ts';

export type ResponseKind = 'json' | 'text' | 'file' | 'auto';
/** What becomes of a number in JSON that no double holds: the text it was written as, or a refusal. */
export type LargeNumbers = 'text' | 'refuse';

const JSON_TYPE = /^application\/(?:[^;\s]+\+)?json$/;
const TEXT_TYPE =
  /^(?:text\/.*|application\/(?:[^;\s]+\+)?xml|application\/javascript|application\/x-www-form-urlencoded)$/;

/** An empty body is null. Throws, or rejects with, ToolFailure OUTPUT_INVALID or OUTPUT_TOO_LARGE. What is large is read in slices. */
export function readResponse(
  response: HttpResponse,
  kind: ResponseKind,
  numbers: LargeNumbers,
): ToolResult | Promise<ToolResult> {
  const { body } = response;
  if (body.length === 0) return { data: null };
  const [mediaType, parameters] = contentTypeOf(response);
  if (kind === 'file') return { data: fileOf(response, mediaType) };
  if (kind === 'json' || (kind === 'auto' && JSON_TYPE.test(mediaType)))
    return body.length < LARGE_JSON_BYTES ? { data: readJson(body, numbers) } : readLarge(body, numbers);
  if (kind === 'text' || TEXT_TYPE.test(mediaType)) return { data: readText(response.body, parameters) };
  return { data: fileOf(response, mediaType) };
}

/** As an argument that is a file may be given: what one tool gives, another takes. */
function fileOf({ headers, body }: HttpResponse, mediaType: string): JsonValue {
  const disposition = headers['content-disposition'];
  const [, quoted, plain] =
    (typeof disposition === 'string' &&
      /;\s*filename=(?:"([^"]{1,255})"|([^\s;"]{1,255}))/i.exec(disposition)) ||
    [];
  const filename = (quoted ?? plain)?.replaceAll(/[/\\\x00-\x1f\x7f]/g, '_');
  return {
    content_type: mediaType.slice(0, 200),
    ...(filename !== undefined && { filename }),
    size: body.length,
    base64: body.toString('base64'),
  };
}

export function readJson(body: Buffer, numbers: LargeNumbers): JsonValue {
  const text = body.toString('utf8');
  // What is so short holds no more values or names than it may.
  if (tooMuchIn(text) !== undefined) throw tooDeep();
  if (numbers === 'refuse') refuseLargeNumbers(text);
  try {
    return JSON.parse(withExactNumbers(text)) as JsonValue;
  } catch (cause) {
    throw notJson(cause);
  }
}

const LIMITS = { depth: MOST_LEVELS, values: MOST_VALUES, names: MOST_NAMES };

async function readLarge(body: Buffer, numbers: LargeNumbers): Promise<ToolResult> {
  try {
    return { data: await inSlices(readLargeJson(body, { ...LIMITS, numbers })) };
  } catch (error) {
    throw error instanceof LargeJsonError ? failureOf(error) : error;
  }
}

function failureOf({ reason, found = '', cause }: LargeJsonError): ToolFailure {
  if (reason === 'UNSAFE_NUMBER') return unsafeNumber(found);
  if (reason === 'TOO_DEEP') return tooDeep();
  if (reason === 'NOT_JSON') return notJson(cause);
  if (reason === 'TOO_LONG') {
    const message = "The upstream's JSON holds a name, a number or a gap that is too long to be read.";
    return new ToolFailure('OUTPUT_TOO_LARGE', message, { reason });
  }
  const message = `The upstream's answer ${boundOf(reason === 'TOO_MANY_NAMES' ? 'names' : 'values')}.`;
  return toolFailure('TOO_MANY_VALUES', message);
}

function refuseLargeNumbers(text: string): void {
  const found = inexactNumberIn(text);
  if (found !== undefined) throw unsafeNumber(found);
}

function unsafeNumber(found: string): ToolFailure {
  const message = `The upstream's JSON holds the number ${found.slice(0, 40)}, which JSON readers round.`;
  return toolFailure('UNSAFE_NUMBER', message);
}

function notJson(cause: unknown): ToolFailure {
  return toolFailure('NOT_JSON', 'The upstream answered with text that is not JSON.', { cause });
}

function tooDeep(): ToolFailure {
  const message = `The upstream's JSON is nested deeper than ${MOST_LEVELS} levels.`;
  return new ToolFailure('OUTPUT_INVALID', message, { reason: 'TOO_DEEP' });
}

function readText(body: Buffer, parameters: string): string {
  const charset = /charset="?([A-Za-z0-9._-]{1,40})"?/i.exec(parameters)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(body);
  } catch (cause) {
    throw toolFailure('UNKNOWN_CHARSET', `The upstream answered in the unknown charset "${charset}".`, {
      cause,
    });
  }
}

function contentTypeOf({ headers }: HttpResponse): [mediaType: string, parameters: string] {
  const header = headers['content-type'];
  const text = typeof header === 'string' ? header : 'text/plain';
  const end = text.indexOf(';');
  const mediaType = (end < 0 ? text : text.slice(0, end)).trim().toLowerCase();
  return [mediaType, end < 0 ? '' : text.slice(end + 1)];
}
