// What a server wants to be told in the middle of a call, scrubbed and cut to what a failure can carry; nothing of it is trusted.
import { isJsonObject } from '../../../contract/json.ts';
import type { SecretScrubber } from '../../../lib/secrets/scrub-secrets.ts';
import type { McpLog, McpResult } from '../../../ports/egress/mcp-servers.ts';
import { inputRequired } from '../failures.ts';
import type { AskedInput } from './calls-under-way.ts';

const MOST_CHARS = 1_000;
const MOST_SCHEMA_CHARS = 4_000;
const MOST_LOG_CHARS = 2_000;

type Cutter = Pick<SecretScrubber, 'cut'>;

/** Params of an `elicitation/create`; undefined: they ask for nothing. */
export function readAsked(params: unknown, { cut }: Cutter): AskedInput | undefined {
  if (!isJsonObject(params)) return undefined;
  const { message, requestedSchema, url } = params;
  if (typeof message !== 'string') return undefined;
  const schema = isJsonObject(requestedSchema) && JSON.stringify(requestedSchema).length <= MOST_SCHEMA_CHARS;
  return {
    message: cut(message, MOST_CHARS),
    ...(schema && { schema: requestedSchema }),
    ...(typeof url === 'string' && url.length <= MOST_CHARS && { url }),
  };
}

/** `inputRequests` of an answer of 2026-07-28, by names of the server's, or `elicitations` of an error. */
export function readAllAsked(requests: unknown, scrubber: Cutter): readonly AskedInput[] {
  const values: readonly unknown[] = Array.isArray(requests)
    ? requests
    : isJsonObject(requests)
      ? Object.values(requests)
      : [];
  return values.slice(0, 5).flatMap((each) => {
    const params = isJsonObject(each) ? (each['params'] ?? each) : each;
    const asked = readAsked(params, scrubber);
    return asked === undefined ? [] : [asked];
  });
}

/** The result of a call in which the server was not told what it wanted to know. Throws ToolFailure where that failed it. */
export function withAsked(result: McpResult, asked: readonly AskedInput[]): McpResult {
  if (asked.length === 0) return result;
  if (result.isError) throw inputRequired(asked);
  const told = asked.map(({ message }) => JSON.stringify(message)).join(', ');
  const text = `[The server asked in the middle of this call, and nobody could answer: ${told}]`;
  return { ...result, content: [...result.content, { type: 'text', text }] };
}

const LEVELS: { readonly [level: string]: McpLog['level'] } = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
};

/** Params of a `notifications/message`. */
export function readLog(
  { level, logger, data }: { level?: unknown; logger?: unknown; data?: unknown },
  { cut }: Cutter,
): McpLog {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  const from = typeof logger === 'string' && logger !== '' ? `${cut(logger, 100)}: ` : '';
  return { level: LEVELS[String(level)] ?? 'info', message: from + cut(text, MOST_LOG_CHARS - from.length) };
}
