// Reads a call's body into a ToolRequest. What cannot be read becomes a refusal that the core gives, behind auth and audit.
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import type { Credential } from '../../../contract/call/principal.ts';
import type { LargeIntegers, ToolRequest } from '../../../contract/call/tool-call.ts';
import type { ToolContext } from '../../../contract/call/tool-context.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { agreedContext } from '../../agreed-context.ts';
import { namedTenant, TENANT_KEY } from '../../named-tenant.ts';
import { readContext } from '../../read-context.ts';
import { invalid } from '../route/violations.ts';
import { credentialOf, type Shown } from '../server/credential.ts';
import { readPrefer, type Preferences } from './prefer.ts';
import { readForm } from './read-form.ts';

const NO_ARGUMENTS: JsonObject = Object.freeze({});

/** What the request line and headers say, the same for every call in the body. */
export interface CallEnvironment {
  readonly credential: Credential;
  readonly timeoutMs: number | undefined;
  /** What headers say of the call's context. */
  readonly traced: ToolContext;
  /** Set where the header that names the tenant cannot be read: every call of the request is refused with it. */
  readonly wrongTenant?: ToolFailure;
  readonly prefer: Preferences;
  readonly whenGone: (gone: () => void) => void;
}

export function environmentOf(request: Shown, whenGone: CallEnvironment['whenGone']): CallEnvironment {
  const { headers } = request;
  const tenant = namedTenant(headers[TENANT_KEY]);
  return {
    credential: credentialOf(request),
    timeoutMs: timeoutOf(headers),
    traced: tracedContext(headers, typeof tenant === 'string' ? tenant : undefined),
    ...(typeof tenant === 'object' && { wrongTenant: tenant }),
    prefer: readPrefer(headers['prefer']),
    whenGone,
  };
}

/** NaN stands for a header that is no positive number: refused by the core's caller, not ignored. */
function timeoutOf(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['x-request-timeout-ms'];
  if (text === undefined) return undefined;
  return typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
}

function tracedContext(headers: IncomingHttpHeaders, tenantId: string | undefined): ToolContext {
  const { traceparent, tracestate } = headers;
  const idempotencyKey = headers['idempotency-key'];
  if (traceparent === undefined && idempotencyKey === undefined && tenantId === undefined) return NO_CONTEXT;
  return {
    tenantId,
    traceparent: asText(traceparent),
    tracestate: asText(tracestate),
    idempotencyKey: asText(idempotencyKey),
  };
}

const NO_CONTEXT: ToolContext = Object.freeze({});

function asText(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

/**
 * One call out of a body: `{arguments, context}`, or the form of the provider whose model asked for it. `parsed` is a JSON
 * value of any kind, or what refused it; `largeIntegers` are pointers into it. `tool` is undefined where the body has to name it.
 */
export function readCall(
  tool: string | undefined,
  parsed: unknown,
  env: CallEnvironment,
  largeIntegers: LargeIntegers = [],
): ToolRequest {
  const base = { credential: env.credential, door: 'rest', whenGone: env.whenGone };
  try {
    if (parsed instanceof ToolFailure) throw parsed;
    if (!isJsonObject(parsed)) throw invalid('', 'must be an object: {"arguments": {…}, "context": {…}}');
    if (env.wrongTenant !== undefined) throw env.wrongTenant;
    if (Number.isNaN(env.timeoutMs))
      throw invalid('', 'header X-Request-Timeout-Ms must be a whole number of milliseconds above 0');
    const form = readForm(tool, parsed, largeIntegers);
    const traced = stripUndefined(env.traced);
    const context = agreedContext(readContext(parsed['context']), traced, 'header');
    const { waitMs } = env.prefer;
    const request = {
      ...base,
      tool: form.tool,
      arguments: form.arguments,
      ...(form.largeIntegers.length > 0 && { largeIntegers: form.largeIntegers }),
      ...(form.providerCallId !== undefined && { providerCallId: form.providerCallId }),
      ...(form.refusal !== undefined && { refusal: form.refusal }),
      context,
      timeoutMs: env.timeoutMs,
    };
    return waitMs === undefined ? request : { ...request, waitMs };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return {
      ...base,
      tool: tool ?? toolIn(parsed),
      arguments: NO_ARGUMENTS,
      context: env.traced,
      refusal: error,
    };
  }
}

/** Also of a call that cannot be read: the audit trail says what it was about. */
function toolIn(parsed: unknown): string {
  const { tool } = isJsonObject(parsed) ? parsed : {};
  return typeof tool === 'string' ? tool : '';
}

function stripUndefined(context: ToolContext): ToolContext {
  if (context === NO_CONTEXT) return context;
  return Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined));
}
