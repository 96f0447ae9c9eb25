// Writes an envelope as the result of tools/call, or as the error that CONTRACTS' table has for it.
import { ProtocolError } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import { errorRow } from '../../../contract/call/error-row.ts';
import type { ToolRefusal, ToolResponse, ToolSuccess } from '../../../contract/call/tool-response.ts';
import { isContent, picturedIn } from '../../../formats/mcp/content-blocks.ts';
import { FROM_OUTSIDE } from '../../../formats/messages/result-parts.ts';
import { refusalLines, type ToldError } from '../../../formats/messages/refusal-text.ts';
import { stringifyInSlices } from '../../../lib/large-json/write-json.ts';
import { wireError, wireMeta } from '../../rest/execute/write-envelope.ts';
import type { Era, Exchange } from '../protocol/exchange.ts';
import { retryAfterSeconds, strangerStatus } from '../protocol/rpc-fault.ts';
import { INVALID_REQUEST } from '../protocol/read-message.ts';

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
  const { data, dataJson, meta, intents } = response;
  const { tool, untrusted = false } = meta;
  exchange.paste(await resultFields({ data, dataJson, tool, untrusted }, exchange.asked.era, terms));
  return { _meta: metaOfResult(wireMeta(meta), intents) };
}

export function metaOfResult(meta: object, intents: readonly unknown[]): object {
  return { [META_KEY]: meta, ...(intents.length > 0 && { [INTENTS_KEY]: intents }) };
}

/** What a tool answered: as it was encoded, too. */
export type Answered = Pick<ToolSuccess, 'data' | 'dataJson'> & {
  readonly tool: string;
  /** A model sees none of `_meta`: a block in front says so. */
  readonly untrusted: boolean;
};

const OUTSIDE_BLOCK = JSON.stringify({ type: 'text', text: FROM_OUTSIDE });
const CONTENT = '"content":[';

/** `content`, and `structuredContent` where there is one, as JSON text without the braces around them. */
export async function resultFields(answered: Answered, era: Era, terms: WriteTerms): Promise<string> {
  const fields = await fieldsOf(answered, era, terms);
  if (!answered.untrusted) return fields;
  if (fields.startsWith(CONTENT)) return `${CONTENT}${OUTSIDE_BLOCK},${fields.slice(CONTENT.length)}`;
  // Blocks of the tool's own, behind another field.
  const { content, ...rest } = answered.data as JsonObject;
  const others = Object.keys(rest).length === 0 ? '' : `,${JSON.stringify(rest).slice(1, -1)}`;
  return `${CONTENT}${OUTSIDE_BLOCK},${JSON.stringify(content).slice(1)}${others}`;
}

async function fieldsOf(
  { data, dataJson, tool }: Answered,
  era: Era,
  { hasOutputSchema }: WriteTerms,
): Promise<string> {
  const isTyped = hasOutputSchema(tool);
  if (typeof data === 'string') return withText(dataJson, isTyped && era === 'modern' ? dataJson : undefined);
  if (!isTyped && isContent(data)) return dataJson.slice(1, -1);
  // 2025-era clients take objects alone.
  const isStructured = isJsonObject(data) || (isTyped && era === 'modern');
  const pictured = picturedIn(data);
  if (pictured === undefined)
    return withText(await stringifyInSlices(dataJson), isStructured ? dataJson : undefined);
  const images = pictured.images.map(({ base64, content_type: mimeType }) =>
    JSON.stringify({ type: 'image', data: base64, mimeType }),
  );
  const text = JSON.stringify(JSON.stringify(pictured.rest));
  return withText(text, isStructured ? dataJson : undefined, images);
}

/** Both are JSON text. */
function withText(text: string, structured: string | undefined, more: readonly string[] = []): string {
  const content = `${CONTENT}${[`{"type":"text","text":${text}}`, ...more].join(',')}]`;
  return structured === undefined ? content : `${content},"structuredContent":${structured}`;
}

function writeRefusal(refusal: ToolRefusal, exchange: Exchange): Result {
  const { error } = refusal;
  const { mcp } = errorRow(error.type, error.origin, error.reason);
  const status = strangerStatus(error);
  if (status !== undefined) {
    exchange.status = status;
    if (error.retryAfterMs !== null) exchange.header('retry-after', retryAfterSeconds(error.retryAfterMs));
    throw new ProtocolError(INVALID_REQUEST, error.message, wireError(refusal));
  }
  if (mcp === -32_602 || mcp === -32_603) throw new ProtocolError(mcp, error.message, wireError(refusal));
  if (mcp === 'none') exchange.endWithout();
  return errorResult(refusal, sentenceOf(refusal));
}

/** For the model: what went wrong, and where. */
export function errorResult(refusal: ToolRefusal, text: string): Result {
  const isFromOutside = refusal.meta.untrusted === true && refusal.error.origin === 'tool';
  return {
    content: [...(isFromOutside ? [{ type: 'text', text: FROM_OUTSIDE }] : []), { type: 'text', text }],
    isError: true,
    _meta: { [ERROR_KEY]: wireError(refusal), [META_KEY]: wireMeta(refusal.meta) },
  };
}

export function sentenceOf({ error }: { readonly error: ToldError }): string {
  return [...refusalLines(error), ...onApproval(error.type, error.details)].join('\n');
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
