// Transport: one request and its answer. Credentials go to the gateway's own address and nowhere else.
import { ConnectionError, errorOf, type GatewayError } from '../errors/gateway-error.ts';
import type { Problem } from '../generated/gateway.ts';
import type { SpeakerSource } from './call-route.ts';

/** Asked before each request; `refresh`: the gateway has refused the token that it gave last. */
export type TokenSource = (why: { readonly refresh: boolean }) => string | Promise<string>;

export interface TransportOptions {
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly token?: TokenSource | undefined;
  readonly tenant?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
}

export interface Outgoing {
  readonly method: string;
  /** From `pathOf`. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export interface Incoming {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Nothing was sent where one of these is the cause. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']); // oxfmt-ignore

export class Transport implements SpeakerSource {
  readonly #options: TransportOptions;
  readonly #base: string;

  constructor(options: TransportOptions) {
    if (!URL.canParse(options.url))
      throw new TypeError(`url: expected an http or https URL, found "${options.url}".`);
    const url = new URL(options.url);
    if (!['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.search !== '')
      throw new TypeError('url: expected an http or https URL without user, password and query.');
    this.#options = options;
    this.#base = url.href.replace(/\/+$/, '');
  }

  /** Where the gateway is. */
  get base(): string {
    return this.#base;
  }

  get tenant(): string | undefined {
    return this.#options.tenant;
  }

  get hasTokens(): boolean {
    return this.#options.token !== undefined;
  }

  async credential(refresh: boolean): Promise<string | undefined> {
    const { apiKey, token } = this.#options;
    return token === undefined ? apiKey : token({ refresh });
  }

  /** An answer in JSON. Rejects with ConnectionError where there was none, and with the reason of the signal. */
  async send(outgoing: Outgoing): Promise<Incoming> {
    const response = await this.open(outgoing);
    const { status, headers } = response;
    try {
      const text = await response.text();
      return { status, headers, body: isJson(headers) ? JSON.parse(text) : text };
    } catch (error) {
      outgoing.signal.throwIfAborted();
      throw new ConnectionError('The answer of the gateway broke off, or is not what it says.', {
        cause: error,
      });
    }
  }

  /** An answer whose body is still to be read. A refused token is asked for anew, once. */
  async open(outgoing: Outgoing): Promise<Response> {
    const response = await this.#fetch(outgoing, false);
    if (response.status !== 401 || this.#options.token === undefined) return response;
    await response.body?.cancel();
    return this.#fetch(outgoing, true);
  }

  async #fetch({ method, path, body, headers = {}, signal }: Outgoing, refresh: boolean): Promise<Response> {
    const { tenant, fetch = globalThis.fetch } = this.#options;
    const credential = await this.credential(refresh);
    const all: Record<string, string | undefined> = {
      accept: 'application/json',
      authorization: credential === undefined ? undefined : `Bearer ${credential}`,
      'x-ute-tenant': tenant,
      'content-type': body === undefined ? undefined : 'application/json',
      ...headers,
    };
    const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const init = { method, headers: new Headers(sent), signal, redirect: 'error' as const };
    const text = body === undefined ? undefined : JSON.stringify(body);
    try {
      // A redirect would take the credential elsewhere: it is an error.
      return await fetch(`${this.#base}${path}`, text === undefined ? init : { ...init, body: text });
    } catch (error) {
      signal.throwIfAborted();
      throw new ConnectionError(`No answer from ${this.#base}.`, {
        notSent: wasNotSent(error),
        cause: error,
      });
    }
  }
}

/** What answers a management request with an error, as RFC 9457 has it; otherwise something between has. */
export function problemOf({ status, headers, body }: Incoming): GatewayError | ConnectionError {
  const retryAfterMs = retryAfterOf(headers);
  if (!isProblem(body))
    return new ConnectionError(`HTTP ${status} without an answer of the gateway.`, { status, retryAfterMs });
  const {
    code,
    detail,
    title,
    reason,
    retryable,
    violations,
    type: _,
    instance: __,
    status: ___,
    ...more
  } = body;
  return errorOf({
    type: code,
    message: detail || title,
    reason,
    retryable,
    partialSideEffects: false,
    origin: status >= 500 || status === 429 ? 'gateway' : 'caller',
    retryAfterMs,
    details: { ...more, ...(violations !== undefined && { violations }) },
    status,
  });
}

export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (text === undefined || !/^\d{1,6}$/.test(text)) return undefined;
  return Number(text) * 1000;
}

type Plain = string | number | boolean | undefined;

/** Path of a route with its parameters in place. "." and ".." would name another route. */
export function pathOf(template: string, parameters: Readonly<Record<string, Plain>> = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(parameters[name] ?? '');
    if (value === '' || value === '.' || value === '..')
      throw new TypeError(`${name}: "${value}" names nothing.`);
    return encodeURIComponent(value.toWellFormed());
  });
}

export function queryOf(parameters: Readonly<Record<string, Plain>> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.append(name, String(value));
  return query.size === 0 ? '' : `?${query.toString()}`;
}

function isJson(headers: Headers): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(headers.get('content-type') ?? '');
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body;
}

function wasNotSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const codes = cause instanceof AggregateError ? cause.errors : [cause];
  return codes.every((each: unknown) => NOT_SENT.has(String((each as { code?: unknown } | undefined)?.code)));
}
