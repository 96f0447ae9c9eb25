// Reads a body into a message of the protocol, as strictly as REST reads a call; what cannot be read becomes a refused call.
import { isUtf8 } from 'node:buffer';
import type { RequestId } from '@modelcontextprotocol/server';
import { isJsonObject } from '../../../contract/json.ts';
import { errorRow } from '../../../contract/call/error-row.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import {
  largeIntegerRefused,
  parseWithLargeIntegers,
  StrictJsonError,
  type WithLargeIntegers,
} from '../../../lib/json/strict-json.ts';
import { DEFAULT_JSON_LIMITS, faultInWords } from '../../../lib/json/strict-json-error.ts';
import { invalid } from '../../rest/route/violations.ts';

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const INTERNAL_ERROR = -32_603;

/** What was wrong, and what is known of the request all the same. */
export class Unreadable {
  readonly failure: ToolFailure;
  readonly status: number;
  readonly code: number;
  /** Of a call that is JSON, and not acceptable: it is answered as a call. Undefined: the message is no call. */
  readonly call: { readonly id: RequestId; readonly tool: string } | undefined;

  constructor(failure: ToolFailure, code: number, call?: Unreadable['call']) {
    this.failure = failure;
    this.code = code;
    this.call = call;
    this.status = errorRow(failure.type, 'caller', failure.reason).http;
  }
}

/** Large enough to be sure that the rest of a body is not worth a second look. */
const LARGEST_SECOND_LOOK = 1 << 20;
/** A message holds the arguments of a call one level deeper than a body of REST does. */
const DEPTH = DEFAULT_JSON_LIMITS.depth + 1;
const ARGUMENTS = '/params/arguments/';

export function readMessage(body: unknown): WithLargeIntegers | Unreadable {
  if (body instanceof ToolFailure) return new Unreadable(body, INVALID_REQUEST);
  if (!Buffer.isBuffer(body) || body.length === 0)
    return new Unreadable(invalid('', 'must be a message of JSON-RPC'), INVALID_REQUEST);
  if (!isUtf8(body)) return new Unreadable(invalid('', 'must be text in UTF-8'), PARSE_ERROR);
  const text = body.toString('utf8');
  try {
    const read = parseWithLargeIntegers(text, { depth: DEPTH });
    const elsewhere = read.largeIntegers.find((pointer) => !pointer.startsWith(ARGUMENTS));
    if (elsewhere !== undefined) throw largeIntegerRefused(elsewhere);
    return read;
  } catch (error) {
    if (error instanceof StrictJsonError) return refused(error, text);
    throw error;
  }
}

function refused({ reason, pointer, message, offset }: StrictJsonError, text: string): Unreadable {
  const inCall = pointer.replace(/^\/params(?=\/|$)/, '');
  const words = faultInWords({ reason, pointer: inCall, message, offset });
  const failure = new ToolFailure('VALIDATION', `The message is not acceptable JSON: ${words}.`, {
    reason,
    details: { violations: [{ pointer: inCall, message }] },
  });
  if (reason === 'SYNTAX') return new Unreadable(failure, PARSE_ERROR);
  return new Unreadable(failure, INVALID_REQUEST, reason === 'TOO_DEEP' ? undefined : callIn(text));
}

/** Of what a lenient reader sees, the request's id and the tool's name alone. */
function callIn(text: string): Unreadable['call'] {
  if (text.length > LARGEST_SECOND_LOOK) return undefined;
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(message) || message['method'] !== 'tools/call') return undefined;
  const { id, params } = message;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined;
  const tool = isJsonObject(params) ? params['name'] : undefined;
  return { id: id as RequestId, tool: typeof tool === 'string' ? tool : '' };
}
