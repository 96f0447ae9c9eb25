// Sends a call's request and makes its answer a result. Whatever comes back, error texts too, is scrubbed of secrets.
import { statusReason } from '../../contract/call/reasons/status-reason.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import type { CallScrubber, ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { shownFencingToken } from '../../lib/egress/fencing-token.ts';
import { traceHeaders } from '../../lib/trace/trace-context.ts';
import type { SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EgressPolicy, HttpClient, HttpRequest, HttpResponse } from '../../ports/egress/http-client.ts';
import type { CompiledRequest, FilledRequest } from './request/compile-request.ts';
import { assembleBody } from './request/body-parts.ts';
import { fileLoader } from './request/fetch-file.ts';
import { valuesFor } from './request/agent-values.ts';
import { slotsOfRequest } from './request/request-slots.ts';
import type { Authorization, Credentials } from './credentials.ts';
import type { RequestOptions } from './options-schema.ts';
import { readResponse } from './read-response.ts';
import { compileSelection } from './select-data.ts';
import { upstreamFailure } from './upstream-failure.ts';

export interface Sending {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly request: RequestOptions;
  readonly compiled: CompiledRequest;
  readonly egress: EgressPolicy;
  readonly credentials: Credentials;
  /** A request whose token was refused may be sent a second time. */
  readonly mayRepeat: boolean;
  /** What the upstream is told of the call: how much of its time is left, and which holder of a limited place it is. */
  readonly tells: { readonly deadline: boolean; readonly fencingToken: boolean };
}

const DEFAULT_MAX_RESPONSE_BYTES = 1024 * 1024;

type LoadFile = ReturnType<typeof fileLoader>;

interface Filled {
  readonly call: ToolCall;
  readonly filled: FilledRequest;
  readonly load: LoadFile;
}

export function requestSender(sending: Sending): PreparedFunction['execute'] {
  const { http, clock, request, compiled, egress, credentials, mayRepeat, tells } = sending;
  const { method, origin } = compiled;
  const valuesOf = valuesFor(slotsOfRequest(request).map(({ name }) => name));
  const maxResponseBytes = request.max_response_bytes ?? DEFAULT_MAX_RESPONSE_BYTES;
  const isSuccess = successTest(request);
  const showsErrors = request.upstream_errors !== 'hide';
  const read = reader(request, method, maxResponseBytes);

  async function send({ filled, load, call }: Filled, authorization: Authorization): Promise<HttpResponse> {
    const { signal } = call;
    const told = { ...authorization.headers, ...toldOf(call, tells, clock.now()) };
    const whole = await wholeRequest(filled, told, load);
    const onWaiting = (why: () => ToolFailure | undefined): void => void (call.progress.stalled = why);
    return http.request({ ...whole, method, origin, egress, maxResponseBytes, signal, onWaiting });
  }

  async function answer(whole: Filled, authorization: Authorization): Promise<ToolResult> {
    try {
      const response = await send(whole, authorization);
      if (!isSuccess(response.status)) {
        const scrubber = bothOf(authorization.scrubber, whole.call.scrubber);
        throw upstreamFailure(response.status, response, clock.wall(), scrubber, showsErrors);
      }
      const result = read(response);
      return await authorization.scrubber.jsonInSlices(result instanceof Promise ? await result : result);
    } catch (error) {
      throw scrubbed(preferStatus(error, isSuccess, clock.wall()), authorization.scrubber);
    }
  }

  return async (call) => {
    const filled = compiled.fill(valuesOf(call));
    const authorization = await authorizationOf(credentials, call);
    // One loader for both tries: files that were fetched are not fetched again.
    const whole = { call, filled, load: fileLoader(http, request, call.signal) };
    try {
      return await answer(whole, authorization);
    } catch (error) {
      const again = isRefusedToken(error) && credentials.refused(authorization) && mayRepeat;
      if (!again) throw error;
    }
    return answer(whole, await authorizationOf(credentials, call));
  };
}

async function authorizationOf(credentials: Credentials, { signal }: ToolCall): Promise<Authorization> {
  try {
    return credentials.fixed ?? (await credentials.authorize(signal));
  } catch (error) {
    throw scrubbed(error, credentials.scrubber);
  }
}

/** With its files, where it has some. */
async function wholeRequest(
  { path, headers, body }: FilledRequest,
  told: FilledRequest['headers'],
  load: LoadFile,
): Promise<Pick<HttpRequest, 'path' | 'headers' | 'body'>> {
  if (typeof body !== 'object')
    return { path, headers: { ...headers, ...told }, ...(body !== undefined && { body }) };
  const put = await assembleBody(body, load);
  return { path, headers: { 'content-type': put.contentType, ...headers, ...told }, body: put.body };
}

/** An error's body is cut, so that every secret has to be out of it before: those of the call's agent as well. */
function bothOf(
  own: SecretScrubber,
  ofAgent: CallScrubber | undefined,
): Pick<SecretScrubber, 'text' | 'json'> {
  if (ofAgent === undefined) return own;
  return {
    text: (text) => ofAgent.text(own.text(text)),
    json: (value) => ofAgent.json(own.json(value)),
  };
}

function toldOf(call: ToolCall, tells: Sending['tells'], now: number): FilledRequest['headers'] {
  const left = tells.deadline ? Math.max(1, Math.floor(call.deadline - now)) : undefined;
  const token = tells.fencingToken ? shownFencingToken(call.progress) : undefined;
  return {
    ...traceHeaders(call.context),
    ...(left !== undefined && { 'x-request-timeout-ms': String(left) }),
    ...(token !== undefined && { 'x-ute-fencing-token': token }),
  };
}

const UNAUTHORIZED = 401;

function isRefusedToken(error: unknown): boolean {
  return error instanceof ToolFailure && error.reason === statusReason(UNAUTHORIZED);
}

function reader(
  { response = 'auto', large_numbers: numbers = 'text' }: RequestOptions,
  method: string,
  maxBytes: number,
) {
  const kind = typeof response === 'object' ? (response.as ?? 'json') : response;
  const expression = typeof response === 'object' ? response.jmespath : undefined;
  const select = expression === undefined ? undefined : compileSelection(expression, maxBytes);
  const selected = ({ data }: ToolResult): ToolResult => ({
    data: select === undefined ? data : select(data),
  });
  return (answer: HttpResponse): ToolResult | Promise<ToolResult> => {
    if (method === 'HEAD') return { data: { status: answer.status } };
    const result = readResponse(answer, kind, numbers);
    if (select === undefined) return result;
    return result instanceof Promise ? result.then(selected) : selected(result);
  };
}

function successTest({ success_status: listed }: RequestOptions): (status: number) => boolean {
  if (listed === undefined) return isOk;
  const statuses = new Set(listed);
  return (status) => statuses.has(status);
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

/** An error page that is too large is still first of all the upstream's error. */
function preferStatus(error: unknown, isSuccess: (status: number) => boolean, now: number): unknown {
  if (!(error instanceof ToolFailure) || error.type !== 'OUTPUT_TOO_LARGE') return error;
  const { status } = error.details;
  return typeof status === 'number' && !isSuccess(status)
    ? upstreamFailure(status, undefined, now, undefined, false)
    : error;
}

/** The same failure without secrets, in its cause as well: that goes to the log. */
function scrubbed(error: unknown, scrubber: SecretScrubber): unknown {
  if (!(error instanceof ToolFailure)) return error;
  const { type, message, reason, origin, retryable, retryAfterMs, partialSideEffects, details, cause } =
    error;
  const clean = {
    message: scrubber.text(message),
    details: scrubber.json(details),
    cause: cleanCause(cause, scrubber),
  };
  if (clean.message === message && clean.details === details && clean.cause === cause) return error;
  return new ToolFailure(type, clean.message, {
    reason,
    origin,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(partialSideEffects === undefined ? {} : { partialSideEffects }),
    details: clean.details,
    cause: clean.cause,
  });
}

function cleanCause(cause: unknown, scrubber: SecretScrubber): unknown {
  if (!(cause instanceof Error)) return cause;
  const text = scrubber.text(cause.message);
  return text === cause.message ? cause : new Error(text);
}
