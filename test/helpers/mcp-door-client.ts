// The MCP door as a program without an SDK talks to it: each message by hand, in either revision of the protocol.
import type { JsonObject } from '../../src/contract/json.ts';

export interface RpcAnswer {
  readonly status: number;
  readonly result?: JsonObject & { readonly [field: string]: never };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
  /** What came before it in its stream. */
  readonly before: readonly JsonObject[];
}

export interface DoorClientOptions {
  readonly url: string;
  readonly key: string;
  readonly query?: string;
  readonly era: 'modern' | 'legacy';
  readonly capabilities?: object;
}

const NAMED_BY: Readonly<Record<string, string>> = { 'tools/call': 'name' };

export class DoorClient {
  readonly #options: DoorClientOptions;
  #session: string | undefined;
  #last = 0;

  constructor(options: DoorClientOptions) {
    this.#options = options;
  }

  /** Of 2025-11-25: with a session, which says what the client can do. */
  async initialize(): Promise<RpcAnswer> {
    const clientInfo = { name: 'test', version: '1.0.0' };
    const { capabilities = {} } = this.#options;
    return this.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: capabilities as JsonObject,
      clientInfo,
    });
  }

  /** `told` is given each message of the stream as it comes. */
  async ask(
    method: string,
    params: JsonObject = {},
    told: (message: JsonObject) => void = () => undefined,
    signal?: AbortSignal,
  ): Promise<RpcAnswer> {
    this.#last += 1;
    const id = this.#last;
    const response = await this.post(
      { jsonrpc: '2.0', id, method, params: this.#withEnvelope(params) },
      signal,
    );
    this.#session ??= response.headers.get('mcp-session-id') ?? undefined;
    const { status } = response;
    const before: JsonObject[] = [];
    for await (const message of messagesOf(response)) {
      if (message['id'] === id && message['method'] === undefined)
        return { status, ...(message as object), before };
      before.push(message);
      told(message);
    }
    return { status, before };
  }

  /** A message as it is, with the headers that belong to it. */
  post(message: JsonObject, signal?: AbortSignal): Promise<Response> {
    const { url, key, query = '', era } = this.#options;
    const { method, params } = message as { method?: string; params?: Record<string, string> };
    const name = params?.[NAMED_BY[method ?? ''] ?? 'taskId'];
    const modern = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method ?? '',
      ...(typeof name === 'string' && { 'mcp-name': headerOf(name) }),
    };
    return fetch(`${url}/mcp${query}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${key}`,
        ...(era === 'modern' && modern),
        ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
      },
      body: JSON.stringify(message),
      ...(signal !== undefined && { signal }),
    });
  }

  #withEnvelope(params: JsonObject): JsonObject {
    const { era, capabilities = {} } = this.#options;
    if (era === 'legacy') return params;
    const envelope = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': capabilities as JsonObject,
    };
    return { ...params, _meta: { ...envelope, ...(params['_meta'] as JsonObject | undefined) } };
  }
}

async function* messagesOf(response: Response): AsyncIterable<JsonObject> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    const text = await response.text();
    if (text !== '') yield JSON.parse(text) as JsonObject;
    return;
  }
  let waiting = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    waiting += decoder.decode(bytes, { stream: true });
    const frames = waiting.split('\n\n');
    waiting = frames.pop() ?? '';
    for (const frame of frames) {
      const data = frame.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice(6)) as JsonObject;
    }
  }
}

/** As it is, where a header can hold it. */
function headerOf(name: string): string {
  return /^[!-~]+$/.test(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`;
}
