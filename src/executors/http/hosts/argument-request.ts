// A request whose URL, method, headers and body are arguments, to a place that the operator lists. What goes along with it is the
// place's own, and no argument can touch it.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { childPointer } from '../../../lib/json/json-pointer.ts';
import { isHeaderValue } from '../../../lib/text/header-rules.ts';
import type { Violation } from '../request/argument-text.ts';
import { compileHeaders } from '../request/compile-headers.ts';
import type { CompiledRequest, FilledRequest, RequestBase } from '../request/compile-request.ts';
import type { RequestOptions } from '../options-schema.ts';
import type { Method } from './hosts-schema.ts';

export interface Place {
  readonly base: RequestBase;
  /** Of the base's URL, without a "/" at its end. */
  readonly strictPath: string;
  /** In lower case. */
  readonly callerHeaders: ReadonlySet<string>;
}

const MOST_HEADER_CHARACTERS = 4_096;
/** What one server takes for a slash or a dot, and another does not: below a path, that may lead out of it. */
const HIDDEN_STEP = /%(?:2e|2f|5c|00)/i;

/** `urlOf`: the URL of the arguments, which is of this place. */
export function compileArguments(
  place: Place,
  method: Method,
  request: RequestOptions,
  urlOf: (args: JsonObject) => URL,
): CompiledRequest {
  const { base } = place;
  const fixed = compileHeaders(request, base.headers, new Set())({}, []);
  return {
    method,
    origin: base.url.origin,
    fill: (args) => {
      const violations: Violation[] = [];
      const path = pathWithQuery(urlOf(args), place, violations);
      const body = bodyOf(args['body'], method, violations);
      const headers = {
        ...fixed,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...callerHeaders(args['headers'], place, violations),
      };
      if (violations.length > 0) throw unsafe(violations);
      const filled: FilledRequest = { path, headers };
      return body === undefined ? filled : { ...filled, body };
    },
  };
}

function pathWithQuery(url: URL, { base, strictPath }: Place, violations: Violation[]): string {
  if (strictPath !== '' && HIDDEN_STEP.test(url.pathname))
    violations.push({
      pointer: '/url',
      message: 'must not hold an encoded dot, slash or backslash in its path',
    });
  const { query } = base;
  if (query === undefined) return url.pathname + url.search;
  if (url.searchParams.has(query.name))
    violations.push({ pointer: '/url', message: `must not set the parameter ${JSON.stringify(query.name)}` });
  const last = `${encodeURIComponent(query.name)}=${query.value}`;
  return `${url.pathname}${url.search === '' ? '?' : `${url.search}&`}${last}`;
}

function bodyOf(body: JsonValue | undefined, method: Method, violations: Violation[]): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (method !== 'GET' && method !== 'HEAD') return JSON.stringify(body);
  violations.push({ pointer: '/body', message: `must not be there: a ${method} request has none` });
  return undefined;
}

function callerHeaders(
  said: JsonValue | undefined,
  { callerHeaders: allowed }: Place,
  violations: Violation[],
): { readonly [name: string]: string } {
  if (said === undefined || said === null) return {};
  if (!isJsonObject(said)) {
    violations.push({ pointer: '/headers', message: 'must be an object of texts' });
    return {};
  }
  const headers: { [name: string]: string } = {};
  for (const [header, value] of Object.entries(said)) {
    const name = header.toLowerCase();
    const message = headerProblem(name, value, allowed, headers);
    if (message === undefined) headers[name] = value as string;
    else violations.push({ pointer: childPointer('/headers', header.slice(0, 100)), message });
  }
  return headers;
}

function headerProblem(
  name: string,
  value: JsonValue,
  allowed: ReadonlySet<string>,
  before: { readonly [name: string]: string },
): string | undefined {
  if (!allowed.has(name))
    return allowed.size === 0
      ? 'must not be set: no header of this place may be'
      : `must not be set: of this place ${[...allowed].join(', ')} may be`;
  if (Object.hasOwn(before, name)) return 'is there twice';
  if (typeof value !== 'string' || value.length > MOST_HEADER_CHARACTERS || !isHeaderValue(value))
    return `must be at most ${MOST_HEADER_CHARACTERS} characters of printable ASCII on one line`;
  return undefined;
}

export function unsafe(violations: readonly Violation[]): ToolFailure {
  return toolFailure('UNSAFE_ARGUMENT', 'The request cannot be made of these arguments.', {
    partialSideEffects: false,
    details: { violations: violations.map(({ pointer, message }) => ({ pointer, message })) },
  });
}
