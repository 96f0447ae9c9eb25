// Reads a call's body into a ToolRequest. What cannot be read becomes a refusal that the core gives, behind auth and audit.
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import { NO_CREDENTIAL, type Credential } from '../../contract/call/principal.ts';
import type { LargeIntegers, ToolRequest } from '../../contract/call/tool-call.ts';
import type { ToolContext } from '../../contract/call/tool-context.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import {
  largeIntegerRefused,
  parseWithLargeIntegers,
  StrictJsonError,
  type WithLargeIntegers,
} from '../../lib/json/strict-json.ts';
import { agreedContext } from '../agreed-key.ts';
import { readContext } from '../read-context.ts';
import { readPrefer, type Preferences } from './prefer.ts';

const NO_ARGUMENTS: JsonObject = Object.freeze({});

/** What the request line and headers say, the same for every call in the body. */
export interface CallEnvironment {
  readonly credential: Credential;
  readonly timeoutMs: number | undefined;
  readonly traced: ToolContext;
  readonly prefer: Preferences;
  readonly whenGone: (gone: () => void) => void;
}

export function environmentOf(
  headers: IncomingHttpHeaders,
  whenGone: CallEnvironment['whenGone'],
): CallEnvironment {
  return {
    credential: credentialOf(headers),
    timeoutMs: timeoutOf(headers),
    traced: tracedContext(headers),
    prefer: readPrefer(headers['prefer']),
    whenGone,
  };
}

export function credentialOf(headers: IncomingHttpHeaders): Credential {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const space = authorization.indexOf(' ');
    if (authorization.slice(0, space).toLowerCase() === 'bearer') {
      return { kind: 'bearer', token: authorization.slice(space + 1).trim() };
    }
    return { kind: 'bearer', token: '' };
  }
  const key = headers['x-api-key'];
  return typeof key === 'string' ? { kind: 'bearer', token: key } : NO_CREDENTIAL;
}

/** NaN stands for a header that is no positive number: refused by the core's caller, not ignored. */
function timeoutOf(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['x-request-timeout-ms'];
  if (text === undefined) return undefined;
  return typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
}

function tracedContext(headers: IncomingHttpHeaders): ToolContext {
  const { traceparent, tracestate } = headers;
  const idempotencyKey = headers['idempotency-key'];
  if (traceparent === undefined && idempotencyKey === undefined) return NO_CONTEXT;
  return {
    traceparent: asText(traceparent),
    tracestate: asText(tracestate),
    idempotencyKey: asText(idempotencyKey),
  };
}

const NO_CONTEXT: ToolContext = Object.freeze({});

function asText(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

/** A management route's body, parsed; throws ToolFailure for one that was refused on its way in, too. */
export function bodyOf({ body }: { readonly body: unknown }): unknown {
  if (body instanceof ToolFailure) throw body;
  return parseBody(body);
}

/** Throws ToolFailure VALIDATION with the place in the text. */
export function parseBody(body: unknown): unknown {
  const { value, largeIntegers } = parseCallBody(body);
  refuseLargeIntegers(largeIntegers);
  return value;
}

/** The same, for those who know what to do with integers beyond 2^53. */
export function parseCallBody(body: unknown): WithLargeIntegers {
  if (!Buffer.isBuffer(body) || body.length === 0) return { value: {}, largeIntegers: [] };
  if (!isUtf8(body)) throw invalid('', 'must be text in UTF-8');
  try {
    return parseWithLargeIntegers(body.toString('utf8'));
  } catch (error) {
    if (error instanceof StrictJsonError) throw malformed(error);
    throw error;
  }
}

function refuseLargeIntegers([first]: LargeIntegers): void {
  if (first !== undefined) throw malformed(largeIntegerRefused(first));
}

function malformed({ reason, pointer, message }: StrictJsonError): ToolFailure {
  return new ToolFailure('VALIDATION', `The body is not acceptable JSON: ${message}`, {
    reason,
    details: { violations: [{ pointer: pointer ?? '', message }] },
  });
}

/**
 * One call out of a body: `{arguments, context}`. `parsed` is a JSON value of any kind, or what refused it;
 * `largeIntegers` are pointers into it.
 */
export function readCall(
  tool: string,
  parsed: unknown,
  env: CallEnvironment,
  largeIntegers: LargeIntegers = [],
): ToolRequest {
  const base = { tool, credential: env.credential, door: 'rest', whenGone: env.whenGone };
  try {
    if (parsed instanceof ToolFailure) throw parsed;
    if (!isJsonObject(parsed)) throw invalid('', 'must be an object: {"arguments": {…}, "context": {…}}');
    if (Number.isNaN(env.timeoutMs))
      throw invalid('', 'header X-Request-Timeout-Ms must be a whole number of milliseconds above 0');
    refuseUnknown(parsed);
    const { arguments: args = NO_ARGUMENTS } = parsed;
    if (!isJsonObject(args)) throw invalid('/arguments', 'must be an object');
    const traced = stripUndefined(env.traced);
    const context = agreedContext(readContext(parsed['context']), traced, 'header Idempotency-Key');
    const { waitMs } = env.prefer;
    refuseLargeIntegers(largeIntegers.filter((pointer) => !pointer.startsWith(IN_ARGUMENTS)));
    const large = largeIntegers.map((pointer) => pointer.slice(IN_ARGUMENTS.length - 1));
    const request = {
      ...base,
      arguments: args,
      ...(large.length > 0 && { largeIntegers: large }),
      context,
      timeoutMs: env.timeoutMs,
    };
    return waitMs === undefined ? request : { ...request, waitMs };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { ...base, arguments: NO_ARGUMENTS, context: env.traced, refusal: error };
  }
}

const IN_ARGUMENTS = '/arguments/';
const CALL_KEYS = new Set(['arguments', 'context', 'tool']);

function refuseUnknown(body: JsonObject): void {
  for (const key in body) {
    if (!CALL_KEYS.has(key))
      throw invalid(`/${key}`, 'is not a field of a call; expected arguments and context');
  }
}

function stripUndefined(context: ToolContext): ToolContext {
  if (context === NO_CONTEXT) return context;
  return Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined));
}

export function invalid(pointer: string, message: string): ToolFailure {
  return new ToolFailure('VALIDATION', `${pointer || 'the body'} ${message}.`, {
    reason: 'MALFORMED_CALL',
    details: { violations: [{ pointer, message }] },
  });
}
