// The gateway's end of a tool: a function from Request to Response, for any server that speaks them.
import { ToolError, type AnyTool, type CallTold, type ToldType } from './define-tool.ts';
import { isStandard, issueText } from './schema.ts';

export interface HandlerOptions {
  /** What the gateway's connection sends as its bearer token, at least 16 characters; false where something before this asks for it. */
  readonly secret: string | false;
  readonly maxBodyBytes?: number;
  /** Told of what a tool threw that is no ToolError; callers hear nothing of it. */
  readonly onError?: (error: unknown, tool: string) => void;
}

const DEFAULT_BODY_BYTES = 1024 * 1024;
/** The gateway ends the call itself when its time is over; its word is to come first. */
const GRACE_MS = 500;
const STATUS: { readonly [type in ToldType]: number } = {
  PERMANENT: 422,
  NOT_FOUND: 404,
  CONFLICT: 409,
  PERMISSION_DENIED: 403,
  RATE_LIMIT: 429,
  TRANSIENT: 503,
};

export function toolHandler(
  tools: readonly AnyTool[],
  { secret, maxBodyBytes = DEFAULT_BODY_BYTES, onError }: HandlerOptions,
): (request: Request) => Promise<Response> {
  if (secret !== false && secret.length < 16) throw new TypeError('secret: expected at least 16 characters.');
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  if (byName.size < tools.length) throw new TypeError('tools: two of them have the same name.');
  return async function handle(request) {
    if (secret !== false && !(await isSame(request.headers.get('authorization') ?? '', `Bearer ${secret}`)))
      return refusal(401, 'The request does not show the secret of these tools.');
    const name = /\/tools\/([^/]+)$/.exec(new URL(request.url).pathname)?.[1] ?? '';
    const tool = byName.get(name);
    if (tool === undefined) return refusal(404, 'There is no such tool here.');
    if (request.method !== 'POST') return refusal(405, 'A tool is called by POST.');
    try {
      const args = await argumentsOf(request, tool, maxBodyBytes);
      if (args instanceof Response) return args;
      const result = await tool.execute(args as never, told(request));
      return Response.json(result ?? null);
    } catch (error) {
      if (error instanceof ToolError) return refusal(STATUS[error.type], error.message, error.retryAfterMs);
      onError?.(error, tool.name);
      return refusal(500, 'The tool failed.');
    }
  };
}

async function argumentsOf(request: Request, tool: AnyTool, maxBytes: number): Promise<unknown> {
  const text = await bodyOf(request, maxBytes);
  if (text === undefined) return refusal(413, `The arguments are longer than ${maxBytes} bytes.`);
  let given: unknown;
  try {
    given = text === '' ? {} : JSON.parse(text);
  } catch {
    return refusal(400, 'The body is no JSON.');
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return refusal(400, 'The arguments are no JSON object.');
  if (!isStandard(tool.input)) return given;
  const checked = await tool.input['~standard'].validate(given);
  return checked.issues === undefined
    ? checked.value
    : refusal(400, checked.issues.map(issueText).join('; '));
}

/** Undefined where it is too long. */
async function bodyOf(request: Request, maxBytes: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const reader = request.body?.getReader();
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    bytes += read.value.byteLength;
    if (bytes > maxBytes) {
      await reader?.cancel();
      return undefined;
    }
    text += decoder.decode(read.value, { stream: true });
  }
  return text + decoder.decode();
}

function told(request: Request): CallTold {
  const ms = Number(request.headers.get('x-request-timeout-ms') ?? Number.NaN);
  const own = ms > 0 && ms < 2 ** 30 ? [AbortSignal.timeout(ms + GRACE_MS)] : [];
  return {
    signal: AbortSignal.any([request.signal, ...own]),
    traceparent: request.headers.get('traceparent') ?? undefined,
  };
}

function refusal(status: number, detail: string, retryAfterMs?: number): Response {
  const headers = new Headers({ 'content-type': 'application/problem+json' });
  if (retryAfterMs !== undefined) headers.set('retry-after', String(Math.ceil(retryAfterMs / 1000)));
  return new Response(JSON.stringify({ title: 'The tool did not succeed', status, detail }), {
    status,
    headers,
  });
}

/** Takes the same time for every wrong value. */
async function isSame(given: string, wanted: string): Promise<boolean> {
  const digest = async (text: string) =>
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  const [a, b] = await Promise.all([digest(given), digest(wanted)]);
  return a.reduce((differs, byte, index) => differs | (byte ^ (b[index] ?? 0)), 0) === 0;
}
