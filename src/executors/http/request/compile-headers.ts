// The headers of a request: the gateway's own, the connection's, and the tool's with arguments in them.
import type { JsonObject } from '../../../contract/json.ts';
import { compileText, inHeader, type Violation } from './argument-text.ts';
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
    accept: kind === 'text' ? 'text/*, */*;q=0.5' : 'application/json, */*;q=0.5',
  };
  if (request.body !== undefined) fixed['content-type'] = 'application/json';
  for (const [name, text] of Object.entries(connection)) fixed[name.toLowerCase()] = text;
  const templates = Object.entries(request.headers ?? {}).map(([header, text]) => {
    const name = header.toLowerCase();
    if (owned.has(name)) throw new Error(`headers.${header}: the connection sets this header already.`);
    return { name, fill: compileText(requestTemplate(text), inHeader) };
  });
  if (templates.length === 0) return () => fixed;
  return (args, violations) => {
    const headers = { ...fixed };
    for (const { name, fill } of templates) {
      const text = fill(args, violations);
      if (text !== undefined) headers[name] = text;
    }
    return headers;
  };
}
