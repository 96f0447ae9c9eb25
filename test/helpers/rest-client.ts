// REST as a test speaks it: call a tool, use the operator's side, read a metric.
import { holdToDocument } from './documented.ts';
import type { RunningGateway } from './running-gateway.ts';

export interface Envelope {
  readonly ok: boolean;
  readonly data?: unknown;
  readonly error?: {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
    readonly origin: string;
  };
  readonly meta: { readonly registry_version: string; readonly tool: string };
}

/** Where REST is and with which key: a gateway in this process, or a child's. */
export interface RestTarget {
  readonly url: string;
  readonly key: string;
  /** Named by every request, for a key that serves several. */
  readonly tenant?: string;
}

export function targetOf(gateway: RunningGateway, who: keyof RunningGateway['keys'] = 'admin'): RestTarget {
  return { url: gateway.url, key: gateway.keys[who].text };
}

export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

export interface Sent<Body> extends Answer<Body> {
  readonly headers: Headers;
}

/** Each answer is held to the OpenAPI document. */
export async function sendTo<Body = Record<string, unknown>>(
  { url, key, tenant }: RestTarget,
  method: string,
  path: string,
  body?: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<Sent<Body>> {
  const headers: Record<string, string> = { authorization: `Bearer ${key}`, ...more };
  if (tenant !== undefined) headers['x-ute-tenant'] = tenant;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const { status, headers: told } = response;
  const text = await response.text();
  holdToDocument({ method, path, status, type: told.get('content-type'), text });
  return { status, headers: told, body: bodyOf(text, told.get('content-type')) as Body };
}

function bodyOf(text: string, type: string | null): unknown {
  if (type?.startsWith('application/jsonl') !== true) return text === '' ? {} : JSON.parse(text);
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as unknown);
}

export async function request<Body>(...asked: Parameters<typeof sendTo>): Promise<Answer<Body>> {
  const { status, body } = await sendTo<Body>(...asked);
  return { status, body };
}

export function callTool(target: RestTarget, tool: string, args: unknown = {}): Promise<Answer<Envelope>> {
  return request<Envelope>(target, 'POST', `/v1/tools/${encodeURIComponent(tool)}/execute`, {
    arguments: args,
  });
}

/** The value of a series without labels at the metrics port. */
export async function metricValue(metricsUrl: string, name: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
  if (value === undefined) throw new Error(`no series ${name} at ${metricsUrl}`);
  return Number(value);
}
