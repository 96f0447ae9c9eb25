// One bounded request to a server of the operator's settings: its status, and its answer as text.
import { egressFault, egressOf, type EgressFields } from '../../../lib/egress/egress.ts';
import type { HttpClient } from '../../../ports/egress/http-client.ts';
import { KeyServiceAway } from './key-service.ts';

export interface ServerRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface ServerAnswer {
  readonly status: number;
  readonly text: string;
}

const MOST_BYTES = 256 * 1024;

/** Rejects with KeyServiceAway where the URL may not be reached, else as the HTTP client does. */
export async function askServer(
  http: HttpClient,
  egressFields: EgressFields,
  { method, url, headers, body, signal }: ServerRequest,
): Promise<ServerAnswer> {
  const egress = egressOf(egressFields, url);
  const fault = egressFault(egress, url);
  if (fault !== undefined)
    throw new KeyServiceAway(
      `${url.origin} names a ${fault} that may not be reached: list it in allow_${fault}s`,
    );
  const answer = await http.request({
    method,
    origin: url.origin,
    path: url.pathname + url.search,
    headers: { 'user-agent': 'unified-tool-executor', ...headers },
    ...(body !== undefined && { body }),
    egress,
    maxResponseBytes: MOST_BYTES,
    signal,
  });
  return { status: answer.status, text: answer.body.toString('utf8') };
}

/** The members of a JSON object; none where the text is something else. */
export function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
