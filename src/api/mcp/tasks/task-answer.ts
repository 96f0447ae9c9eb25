// TaskAnswer: what the call of a task would have answered its caller: a result, or the protocol's own error.
import { errorRow } from '../../../contract/call/error-row.ts';
import { isErrorType, type ErrorOrigin } from '../../../contract/call/error-types.ts';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import { parseOwn } from '../../../lib/large-json/parse-json.ts';
import type { Era } from '../protocol/exchange.ts';
import { INVALID_REQUEST } from '../protocol/read-message.ts';
import {
  ERROR_KEY,
  META_KEY,
  metaOfResult,
  resultFields,
  sentenceOf,
  type WriteTerms,
} from '../tools/write-tool-result.ts';
import { readStoredAnswer } from './stored-answer.ts';

export type TaskAnswer =
  /** `fields`: JSON text of what stands in it beside `_meta`. */
  | { readonly kind: 'result'; readonly fields: string; readonly meta: object }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data: JsonObject };

export async function taskAnswer(envelope: string, era: Era, terms: WriteTerms): Promise<TaskAnswer> {
  const stored = await readStoredAnswer(envelope);
  if (!stored.ok) return answerOfError(stored.error, stored.meta);
  const { dataJson, intents, meta } = stored;
  const { tool } = meta;
  const answered = {
    data: await parseOwn(dataJson),
    dataJson,
    tool: typeof tool === 'string' ? tool : '',
    untrusted: meta['untrusted'] === true,
  };
  return {
    kind: 'result',
    fields: await resultFields(answered, era, terms),
    meta: metaOfResult(meta, intents),
  };
}

/** Of a call that its client has cancelled, whatever became of it. */
export function cancelledAnswer(): TaskAnswer {
  return { kind: 'result', fields: errorFields('CANCELLED: The call was cancelled.'), meta: {} };
}

function answerOfError(error: JsonObject, meta: JsonObject): TaskAnswer {
  const { message, type, retry_after_ms: retryAfterMs, details } = error;
  const said = {
    type: typeof type === 'string' ? type : 'INTERNAL',
    message: typeof message === 'string' ? message : '',
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : null,
    details: isJsonObject(details) ? details : {},
  };
  const code = codeOf(error);
  if (code !== undefined) return { kind: 'error', code, message: said.message, data: error };
  return {
    kind: 'result',
    fields: errorFields(sentenceOf({ error: said })),
    meta: { [ERROR_KEY]: error, [META_KEY]: meta },
  };
}

function errorFields(text: string): string {
  return `"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true`;
}

/** Undefined: a result says what went wrong. */
function codeOf({ type, origin, reason }: JsonObject): number | undefined {
  if (!isErrorType(type)) return undefined;
  const { mcp } = errorRow(
    type,
    isOrigin(origin) ? origin : 'gateway',
    typeof reason === 'string' ? reason : undefined,
  );
  // The credential that the call was made with is good no more: whoever asks for the task may have another one.
  if (mcp === 401) return INVALID_REQUEST;
  return typeof mcp === 'number' ? mcp : undefined;
}

function isOrigin(said: unknown): said is ErrorOrigin {
  return said === 'caller' || said === 'gateway' || said === 'tool';
}
