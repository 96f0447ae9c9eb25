// Which headers a tool's definition and a connection may set. The rest belongs to the transport.
import { z } from 'zod';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

const TRANSPORT_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'forwarded',
  'accept-encoding',
  'content-encoding',
]);
const TRANSPORT_PREFIXES = ['proxy-', 'x-forwarded-'];

/** Carriers of secrets: a connection may set them, a tool's definition may not. */
const SECRET_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie']);

/** A secret of the calling agent, and nothing that an argument fills: `Bearer {sensitive_config.access_token}`. */
const OF_AGENT = /^(?:[A-Za-z]+ )?\{sensitive_config\.[A-Za-z_][A-Za-z0-9_]*\}$/;

/** What is wrong with a header's name, or undefined. */
export function headerNameProblem(
  name: string,
  setBy: 'tool' | 'connection',
  value = '',
): string | undefined {
  if (!HEADER_NAME.test(name)) return `"${name}" is not a header name.`;
  const lower = name.toLowerCase();
  if (TRANSPORT_HEADERS.has(lower) || TRANSPORT_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    return `The header "${name}" is set by the gateway and cannot be given.`;
  }
  if (setBy === 'tool' && SECRET_HEADERS.has(lower) && !OF_AGENT.test(value)) {
    return `The header "${name}" carries a secret: set it in a connection's headers, or as {sensitive_config.name} of the agent, not in the tool.`;
  }
  return undefined;
}

/** Printable ASCII, spaces and tabs: no line break can smuggle a second header in. */
export function isHeaderValue(value: string): boolean {
  return HEADER_VALUE.test(value);
}

/** Schema of headers by name, each value checked by `value` too. */
export function headersBy<Value extends z.ZodType<string>>(setBy: 'tool' | 'connection', value: Value) {
  return z.record(z.string(), value).superRefine((headers, context) => {
    const seen = new Set<string>();
    for (const [name, text] of Object.entries(headers)) {
      const problem = seen.has(name.toLowerCase())
        ? `The header "${name}" is given twice.`
        : headerNameProblem(name, setBy, text);
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem });
      if (!isHeaderValue(text)) {
        context.addIssue({ code: 'custom', path: [name], message: 'Expected printable ASCII on one line.' });
      }
      seen.add(name.toLowerCase());
    }
  });
}
