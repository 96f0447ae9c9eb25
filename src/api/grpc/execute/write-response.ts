// Writes a ToolResponse as ExecuteResponse, and a call's events as ExecuteStreamResponse: bytes, ready to send.
import type { Intent } from '../../../contract/call/intent.ts';
import type { CallEvent } from '../../../contract/call/tool-call.ts';
import type { JsonValue } from '../../../contract/json.ts';
import { stringifyInSlices } from '../../../lib/large-json/write-json.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import {
  ENVELOPE_VERSION,
  type ResponseMeta,
  type ToolError,
  type ToolResponse,
} from '../../../contract/call/tool-response.ts';
import type { PayloadForm } from './read-request.ts';
import { encodeStruct, encodeValue, encodeValueInSlices, StructError } from '../struct/struct-codec.ts';
import { encodeExecuteResponse, encodeStreamEvent } from '../wire-types.ts';

/** What grpc-js may send in one message. A larger answer would end in a status without details. */
export const MAX_SEND_BYTES = 16 * 1024 * 1024;

/** Rejects with ToolFailure OUTPUT_TOO_LARGE where the answer does not fit into the form that was asked for. */
export async function writeResponse(response: ToolResponse, form: PayloadForm): Promise<Uint8Array> {
  return bounded(encodeExecuteResponse(await responseMessage(response, form)));
}

/** Rejects as writeResponse does. */
export async function writeLastEvent(response: ToolResponse, form: PayloadForm): Promise<Uint8Array> {
  return bounded(encodeStreamEvent({ response: await responseMessage(response, form) }));
}

export function writeEvent(event: CallEvent, form: PayloadForm): Uint8Array {
  return bounded(encodeStreamEvent(eventMessage(event, form)));
}

/** What writeEvent gives of a partial result: a large one is written in slices. Rejects as writeResponse does. */
export async function writePartial(data: JsonValue, form: PayloadForm): Promise<Uint8Array> {
  const partial =
    form === 'json'
      ? { dataJson: await stringifyInSlices(data) }
      : { data: await encodeValueInSlices(data).catch(refuseTooDeep) };
  return bounded(encodeStreamEvent({ partial }));
}

function eventMessage(event: CallEvent, form: PayloadForm): object {
  if (event.kind === 'progress') return { progress: { fraction: event.fraction, message: event.message } };
  if (event.kind === 'log') return { log: { level: event.level, message: event.message } };
  const { data } = event;
  if (form === 'json') return { partial: { dataJson: JSON.stringify(data) } };
  return { partial: { data: orTooDeep(() => encodeValue(data)) } };
}

/** Of a call that runs later: there is no result yet. */
export function messageWithoutData(response: ToolResponse): object {
  const meta = metaMessage(response.meta);
  return response.ok ? { ok: true, meta } : { ok: false, error: errorMessage(response.error), meta };
}

async function responseMessage(response: ToolResponse, form: PayloadForm): Promise<object> {
  const meta = metaMessage(response.meta);
  if (!response.ok) return { ok: false, error: errorMessage(response.error), meta };
  const { data, dataJson, intents } = response;
  const message = { ok: true, intents: intents.length === 0 ? undefined : intents.map(intentMessage), meta };
  if (form === 'json') return { ...message, dataJson };
  return { ...message, data: await encodeValueInSlices(data).catch(refuseTooDeep) };
}

export function intentMessage({ type, ...fields }: Intent): object {
  return { type, fields: orTooDeep(() => encodeStruct(fields)) };
}

export function errorMessage(error: ToolError): object {
  const { type, message, retryable, partialSideEffects, origin, reason, details } = error;
  const retryAfterMs =
    error.retryAfterMs === null ? undefined : Math.min(Math.ceil(error.retryAfterMs), 0xffffffff);
  const fields = orTooDeep(() => encodeStruct(details));
  return { type, message, retryable, partialSideEffects, origin, reason, retryAfterMs, details: fields };
}

export function metaMessage(meta: ResponseMeta): object {
  return { schemaVersion: ENVELOPE_VERSION, ...meta };
}

function orTooDeep(encode: () => Uint8Array): Uint8Array {
  try {
    return encode();
  } catch (error) {
    return refuseTooDeep(error);
  }
}

function refuseTooDeep(error: unknown): never {
  if (!(error instanceof StructError)) throw error;
  throw tooLarge('is nested too deeply for google.protobuf.Value; send arguments_json to get it as JSON');
}

function bounded(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= MAX_SEND_BYTES) return bytes;
  throw tooLarge(`takes ${bytes.length} bytes as a message; at most ${MAX_SEND_BYTES} can be sent`);
}

/** The tool has run by then. */
function tooLarge(what: string): ToolFailure {
  return new ToolFailure('OUTPUT_TOO_LARGE', `The tool's result ${what}.`, { partialSideEffects: true });
}
