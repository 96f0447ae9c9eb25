// Writes an envelope as the result of tools/call, or as the error that CONTRACTS' table has for it.
import { ProtocolError } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import { errorRow } from '../../../contract/call/error-row.ts';
import type { ToolRefusal, ToolResponse, ToolSuccess } from '../../../contract/call/tool-response.ts';
import { stringifyInSlices } from '../../../lib/large-json/write-json.ts';
import { wireError, wireMeta } from '../../rest/execute/write-envelope.ts';
import type { Exchange } from '../protocol/exchange.ts';
import { INVALID_REQUEST } from '../protocol/read-message.ts';
import { isContent } from './content-blocks.ts';

/** Of `_meta`: what the envelope of REST holds beside the data. */
export const META_KEY = 'io.ute/meta';
export const ERROR_KEY = 'io.ute/error';
export const INTENTS_KEY = 'io.ute/intents';

/** Fields of a result; those that are text already are pasted. */
export type Result = { readonly [field: string]: unknown };

export interface WriteTerms {
  /** Whether the tool says of what form its results are. */
  readonly hasOutputSchema: (tool: string) => boolean;
}

/** Throws ProtocolError. */
export async function writeToolResult(
  response: ToolResponse,
  exchange: Exchange,
  terms: WriteTerms,
): Promise<Result> {
  if (!response.ok) return writeRefusal(response, exchange);
  exchange.paste(await fieldsOf(response, exchange, terms));
  const { intents } = response;
  return {
    _meta: { [META_KEY]: wireMeta(response.meta), ...(intents.length > 0 && { [INTENTS_KEY]: intents }) },
  };
}

/** `content`, and `structuredContent` where there is one. */
async function fieldsOf(
  { data, dataJson, meta }: ToolSuccess,
  { asked }: Exchange,
  { hasOutputSchema }: WriteTerms,
): Promise<string> {
  if (typeof data === 'string')
    return withText(dataJson, hasOutputSchema(meta.tool) && asked.era === 'modern' ? dataJson : undefined);
  const isTyped = hasOutputSchema(meta.tool);
  if (!isTyped && isContent(data)) return dataJson.slice(1, -1);
  // 2025-era clients take objects alone.
  const isStructured = isJsonObject(data) || (isTyped && asked.era === 'modern');
  return withText(await stringifyInSlices(dataJson), isStructured ? dataJson : undefined);
}

/** Both are JSON text. */
function withText(text: string, structured: string | undefined): string {
  const content = `"content":[{"type":"text","text":${text}}]`;
  return structured === undefined ? content : `${content},"structuredContent":${structured}`;
}

function writeRefusal(refusal: ToolRefusal, exchange: Exchange): Result {
  const { error } = refusal;
  const { mcp } = errorRow(error.type, error.origin, error.reason);
  if (mcp === 401) {
    exchange.status = 401;
    throw new ProtocolError(INVALID_REQUEST, error.message, wireError(refusal));
  }
  if (mcp === -32_602 || mcp === -32_603) throw new ProtocolError(mcp, error.message, wireError(refusal));
  if (mcp === 'none') exchange.endWithout();
  return errorResult(refusal, sentenceOf(refusal));
}

/** For the model: what went wrong, and where. */
export function errorResult(refusal: ToolRefusal, text: string): Result {
  return {
    content: [{ type: 'text', text }],
    isError: true,
    _meta: { [ERROR_KEY]: wireError(refusal), [META_KEY]: wireMeta(refusal.meta) },
  };
}

export function sentenceOf({ error }: ToolRefusal): string {
  const { type, message, retryAfterMs } = error;
  const places = placesOf(error.details).filter((place) => !message.includes(place));
  const again =
    retryAfterMs === null ? [] : [`Try again in ${Math.max(1, Math.ceil(retryAfterMs / 1000))} s.`];
  return [`${type}: ${message}`, ...places, ...again, ...onApproval(error.type, error.details)].join('\n');
}

function placesOf({ violations }: JsonObject): readonly string[] {
  if (!Array.isArray(violations)) return [];
  return violations.flatMap((each) => {
    if (!isJsonObject(each) || typeof each['message'] !== 'string') return [];
    const { pointer, message } = each;
    return [typeof pointer === 'string' && pointer !== '' ? `${pointer} ${message}` : message];
  });
}

/** How to go on, for a client that cannot be asked for it. */
function onApproval(type: string, details: JsonObject): readonly string[] {
  const { approval_url: url, confirmation_token: token } = details;
  if (type !== 'CONFIRMATION_REQUIRED' || typeof url !== 'string') return [];
  const again =
    typeof token === 'string'
      ? ` Once somebody has approved it, make the same call again with _meta {"io.ute/context": {"confirmation_token": "${token}"}}.`
      : '';
  return [`A human has to approve this call: ${url}.${again}`];
}
