// Compiles one request's options at load; a call only fills it. Arguments can never change where it goes.
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { exactNumber } from '../../../lib/json/exact-json.ts';
import type { Int64Places } from '../../../lib/json-schema/int64-places.ts';
import { type Template } from '../../../lib/text/template.ts';
import { compileText, inPath, isAbsent, refuse, type Place, type Violation } from './argument-text.ts';
import { encodeBody, type PendingBody } from './body-parts.ts';
import { styledText } from './styled-text.ts';
import { compileBody, remainingArguments } from './compile-body.ts';
import { compileHeaders, type Headers } from './compile-headers.ts';
import { compileQuery } from './compile-query.ts';
import type { RequestOptions } from '../options-schema.ts';
import { slotsOfRequest } from './request-slots.ts';
import { requestTemplate } from './agent-values.ts';

/** Where requests go when a connection says so. */
export interface RequestBase {
  readonly url: URL;
  readonly headers: Headers;
  /** A header, in lower case, that is added when the request is sent. */
  readonly laterHeader?: string;
  /** A parameter that ends every query; its value is encoded already. */
  readonly query?: { readonly name: string; readonly value: string };
}

export interface FilledRequest {
  /** Path and query, encoded. */
  readonly path: string;
  readonly headers: Headers;
  /** Parts and files are put together when it is sent. */
  readonly body?: string | PendingBody;
}

export interface CompiledRequest {
  readonly method: string;
  readonly origin: string;
  /** Throws ToolFailure VALIDATION, reason UNSAFE_ARGUMENT, with every violation. */
  readonly fill: (args: JsonObject) => FilledRequest;
}

type Fill<Part> = (args: JsonObject, violations: Violation[]) => Part;

/**
 * `integers`: where the arguments may hold numbers beyond 2^53 as text; in a body of JSON they are numbers again. Throws
 * Error with a sentence for the operator.
 */
export function compileRequest(
  request: RequestOptions,
  base: RequestBase | undefined,
  parameters: readonly string[],
  integers?: Int64Places,
): CompiledRequest {
  const { origin, basePath, pathTemplate } = targetOf(request, base);
  const used = new Set(slotsOfRequest(request).map(({ name }) => name));
  refuseUnused(request, parameters, used);
  const fillPath = compilePath(origin, basePath, requestTemplate(pathTemplate), request);
  const fillQuery = compileWholeQuery(request, base, used);
  const fillBody = compileBodyText(request, used);
  const fillHeaders = compileHeaders(request, base?.headers ?? {}, ownedHeaders(base));
  return {
    method: request.method ?? 'GET',
    origin,
    fill: (args) => {
      const violations: Violation[] = [];
      const path = fillPath(args, violations) + fillQuery(args, violations);
      const headers = fillHeaders(args, violations);
      const body = fillBody?.(withExactIntegers(args, integers), violations);
      if (violations.length > 0) throw unsafe(violations);
      return body === undefined ? { path, headers } : { path, headers, body };
    },
  };
}

/** The arguments as JSON.stringify is to write them: what stands for a number beyond 2^53 is one there. */
function withExactIntegers(args: JsonObject, integers: Int64Places | undefined): JsonObject {
  if (integers === undefined || integers.textsIn(args).length === 0) return args;
  const copy = structuredClone(args);
  for (const { text, put } of integers.textsIn(copy)) put(exactNumber(text));
  return copy;
}

function targetOf(request: RequestOptions, base: RequestBase | undefined) {
  if (request.url !== undefined) {
    const [, authority = '', pathTemplate = ''] = /^(https?:\/\/[^/]+)(.*)$/.exec(request.url) ?? [];
    if (!URL.canParse(authority)) throw new Error(`url: expected an absolute URL, found "${request.url}".`);
    return { origin: new URL(authority).origin, basePath: '', pathTemplate: pathTemplate || '/' };
  }
  if (base === undefined || request.path === undefined) {
    throw new Error('Expected either url, or a connection and a path.');
  }
  return {
    origin: base.url.origin,
    basePath: base.url.pathname.replace(/\/$/, ''),
    pathTemplate: request.path,
  };
}

/** An argument that goes nowhere would be lost in silence. */
function refuseUnused(
  request: RequestOptions,
  parameters: readonly string[],
  used: ReadonlySet<string>,
): void {
  if (request.query === 'remaining' || request.body === 'remaining') return;
  const unused = parameters.filter((name) => !used.has(name));
  if (unused.length === 0) return;
  throw new Error(
    `The parameters ${unused.join(', ')} stand nowhere in the request: ` +
      'place them in path, query, headers or body, or say "query: remaining" or "body: remaining".',
  );
}

function compilePath(
  origin: string,
  basePath: string,
  template: Template,
  request: RequestOptions,
): Fill<string> {
  checkLiterals(origin, basePath, template);
  const fill = compileText(template, pathPlace(request));
  const [onlyPlaceholder] = template.names;
  return (args, violations) => {
    const filled = fill(args, violations);
    if (filled === undefined) return refuseAbsent(template, args, violations);
    const path = basePath + filled;
    // What the places let through is checked once more as a whole: same origin, no segment resolved away.
    if (onlyPlaceholder !== undefined && violations.length === 0 && !isNormal(origin, path)) {
      return refuse(violations, onlyPlaceholder, 'changes the structure of the URL');
    }
    return path;
  };
}

const PLAIN = { encode: inPath('encode'), refuse: inPath('refuse') };

function pathPlace({ path_slashes: slashes = 'encode', path_arguments: styles = {} }: RequestOptions): Place {
  const plain = PLAIN[slashes];
  if (Object.keys(styles).length === 0) return plain;
  return (value, argument, violations) => {
    const said = Object.hasOwn(styles, argument) ? styles[argument] : undefined;
    if (said === undefined) return plain(value, argument, violations);
    const { style = 'simple', explode = false, name = argument } = said;
    const write = (item: JsonValue): string => plain(item, argument, violations);
    const text = styledText(value, { style, explode, name: encodeURIComponent(name) }, write);
    return text === '' ? refuse(violations, argument, 'must not be empty in a URL path') : text;
  };
}

function refuseAbsent(template: Template, args: JsonObject, violations: Violation[]): string {
  for (const name of template.names) {
    if (isAbsent(args[name])) refuse(violations, name, 'is needed in the URL path');
  }
  return '';
}

function checkLiterals(origin: string, basePath: string, template: Template): void {
  for (const part of template.parts) {
    if (typeof part === 'string' && /%(?![0-9A-Fa-f]{2})/.test(part)) {
      throw new Error('path: expected two hexadecimal digits after "%".');
    }
  }
  const sample = basePath + template.parts.map((part) => (typeof part === 'string' ? part : 'x')).join('');
  if (isNormal(origin, sample)) return;
  const normal = URL.canParse(origin + sample) ? new URL(origin + sample).pathname : '';
  throw new Error(`path: expected the path as it is sent, "${normal}", found "${sample}".`);
}

function isNormal(origin: string, path: string): boolean {
  const url = URL.parse(origin + path);
  return url !== null && url.origin === origin && url.username === '' && url.pathname === path;
}

function compileWholeQuery(
  { query = {} }: RequestOptions,
  base: RequestBase | undefined,
  used: ReadonlySet<string>,
): Fill<string> {
  const { query: last } = base ?? {};
  const fill = compileQuery(query, used, new Set(last === undefined ? [] : [last.name]));
  if (last === undefined) return fill;
  const pair = `${encodeURIComponent(last.name)}=${last.value}`;
  return (args, violations) => {
    const text = fill(args, violations);
    return text === '' ? `?${pair}` : `${text}&${pair}`;
  };
}

function ownedHeaders({ headers = {}, laterHeader }: Partial<RequestBase> = {}): ReadonlySet<string> {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return new Set(laterHeader === undefined ? names : [...names, laterHeader]);
}

function compileBodyText(
  request: RequestOptions,
  used: ReadonlySet<string>,
): Fill<string | PendingBody | undefined> | undefined {
  const { body } = request;
  if (body === undefined) return undefined;
  if (body === 'remaining')
    return (args, violations) => encodeBody(remainingArguments(args, used), request, violations);
  const fill = compileBody(body);
  return (args, violations) => {
    const filled = fill(args, violations);
    return isAbsent(filled) && (filled === undefined || request.body_as !== undefined)
      ? undefined
      : encodeBody(filled, request, violations);
  };
}

function unsafe(violations: readonly Violation[]): ToolFailure {
  return toolFailure('UNSAFE_ARGUMENT', 'An argument cannot be placed in the request.', {
    partialSideEffects: false,
    details: { violations: violations.map(({ pointer, message }) => ({ pointer, message })) },
  });
}
