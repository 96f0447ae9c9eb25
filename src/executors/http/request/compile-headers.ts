// The headers of a request: the gateway's own, the connection's, and the tool's with arguments in them.
import type { JsonObject } from '../../../contract/json.ts';
import { compileText, inHeader, isAbsent, type Violation } from './argument-text.ts';
import { compileCookies } from './compile-cookies.ts';
import { styledText } from './styled-text.ts';
import type { RequestOptions } from '../options-schema.ts';
import { requestTemplate } from './agent-values.ts';

export interface Headers {
  readonly [name: string]: string;
}

/** `owned`: in lower case, the names that the connection sets, if only when the request is sent. */
export function compileHeaders(
  request: RequestOptions,
  connection: Headers,
  owned: ReadonlySet<string>,
): (args: JsonObject, violations: Violation[]) => Headers {
  const kind = typeof request.response === 'object' ? request.response.as : request.response;
  const fixed: { [name: string]: string } = {
    'user-agent': 'unified-tool-executor',
    accept: acceptOf(kind),
  };
  const type = contentTypeOf(request);
  if (type !== undefined) fixed['content-type'] = type;
  for (const [name, text] of Object.entries(connection)) fixed[name.toLowerCase()] = text;
  const templates = Object.entries(request.headers ?? {}).map(([header, text]) => {
    const name = header.toLowerCase();
    if (owned.has(name)) throw new Error(`headers.${header}: the connection sets this header already.`);
    return { name, fill: compileText(requestTemplate(text), inHeader) };
  });
  for (const [header, said] of Object.entries(request.header_arguments ?? {})) {
    const name = header.toLowerCase();
    if (owned.has(name))
      throw new Error(`header_arguments.${header}: the connection sets this header already.`);
    const { from, style = 'simple', explode = false } = said;
    templates.push({
      name,
      fill: (args, violations) => {
        const value = args[from];
        if (isAbsent(value)) return undefined;
        const text = styledText(value, { style, explode, name }, (item) => inHeader(item, from, violations));
        return text === '' ? undefined : text;
      },
    });
  }
  const fillCookies = request.cookies && compileCookies(request.cookies, fixed['cookie'] ?? '');
  if (templates.length === 0 && fillCookies === undefined) return () => fixed;
  return (args, violations) => {
    const headers = { ...fixed };
    for (const { name, fill } of templates) {
      const text = fill(args, violations);
      if (text !== undefined) headers[name] = text;
    }
    const cookies = fillCookies?.(args, violations) ?? '';
    if (cookies !== '') headers['cookie'] = cookies;
    return headers;
  };
}

function acceptOf(kind: string | undefined): string {
  if (kind === 'file') return '*/*';
  return kind === 'text' ? 'text/*, */*;q=0.5' : 'application/json, */*;q=0.5';
}

/** Undefined: there is no body, or what it is of is known when it is put together. */
function contentTypeOf({ body, body_as: kind = 'json' }: RequestOptions): string | undefined {
  if (body === undefined || kind === 'file' || kind === 'multipart') return undefined;
  if (kind === 'form') return 'application/x-www-form-urlencoded';
  return kind === 'text' ? 'text/plain; charset=utf-8' : 'application/json';
}
