// Reads an upstream's answer into a tool's result: JSON bounded in depth, or text.
import type { JsonValue } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { ToolResult } from '../../contract/tool-response.ts';
import { inexactNumberIn, withExactNumbers } from '../../lib/exact-json.ts';
import { boundOf, MOST_LEVELS, tooMuchIn } from '../../lib/json-bounds.ts';
import type { HttpResponse } from '../../ports/http-client.ts';

export type ResponseKind = 'json' | 'text' | 'auto';
/** What becomes of a number in JSON that no double holds: the text it was written as, or a refusal. */
export type LargeNumbers = 'text' | 'refuse';

const JSON_TYPE = /^application\/(?:[^;\s]+\+)?json$/;
const TEXT_TYPE =
  /^(?:text\/.*|application\/(?:[^;\s]+\+)?xml|application\/javascript|application\/x-www-form-urlencoded)$/;

/** An empty body is null. Throws ToolFailure OUTPUT_INVALID. */
export function readResponse(response: HttpResponse, kind: ResponseKind, numbers: LargeNumbers): ToolResult {
  if (response.body.length === 0) return { data: null };
  const [mediaType, parameters] = contentTypeOf(response);
  if (kind === 'json' || (kind === 'auto' && JSON_TYPE.test(mediaType)))
    return { data: readJson(response.body, numbers) };
  if (kind === 'text' || TEXT_TYPE.test(mediaType)) return { data: readText(response.body, parameters) };
  throw new ToolFailure(
    'OUTPUT_INVALID',
    `The upstream answered with content of type "${mediaType.slice(0, 80)}", which is neither JSON nor text.`,
    { reason: 'UNEXPECTED_CONTENT_TYPE' },
  );
}

export function readJson(body: Buffer, numbers: LargeNumbers): JsonValue {
  const text = body.toString('utf8');
  const tooMuch = tooMuchIn(text);
  if (tooMuch === 'levels') throw tooDeep();
  if (tooMuch !== undefined) {
    const message = `The upstream's answer ${boundOf(tooMuch)}.`;
    throw new ToolFailure('OUTPUT_TOO_LARGE', message, { reason: 'TOO_MANY_VALUES' });
  }
  if (numbers === 'refuse') refuseLargeNumbers(text);
  try {
    return JSON.parse(withExactNumbers(text)) as JsonValue;
  } catch (cause) {
    throw new ToolFailure('OUTPUT_INVALID', 'The upstream answered with text that is not JSON.', {
      reason: 'NOT_JSON',
      cause,
    });
  }
}

function tooDeep(): ToolFailure {
  const message = `The upstream's JSON is nested deeper than ${MOST_LEVELS} levels.`;
  return new ToolFailure('OUTPUT_INVALID', message, { reason: 'TOO_DEEP' });
}

function refuseLargeNumbers(text: string): void {
  const found = inexactNumberIn(text);
  if (found === undefined) return;
  const message = `The upstream's JSON holds the number ${found.slice(0, 40)}, which JSON readers round.`;
  throw new ToolFailure('OUTPUT_INVALID', message, { reason: 'UNSAFE_NUMBER' });
}

function readText(body: Buffer, parameters: string): string {
  const charset = /charset="?([A-Za-z0-9._-]{1,40})"?/i.exec(parameters)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(body);
  } catch (cause) {
    throw new ToolFailure('OUTPUT_INVALID', `The upstream answered in the unknown charset "${charset}".`, {
      reason: 'UNKNOWN_CHARSET',
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
