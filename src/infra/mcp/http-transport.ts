// The transport to a server over HTTP: the SDK's own, on the guarded fetch, with answers bounded before it parses them.
import { AsyncLocalStorage } from 'node:async_hooks';
import type * as SdkModule from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import type { ToolFailure } from '../../contract/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/http-client.ts';
import type { McpHttpSettings } from '../../ports/mcp-servers.ts';
import { withExactNumbers } from '../../lib/exact-json.ts';
import { boundOf, tooMuchIn } from '../../lib/json-bounds.ts';
import { LARGE_JSON_BYTES } from '../../lib/large-json/limits.ts';
import { boundedEvents } from './bounded-events.ts';
import { exactEvents } from './exact-events.ts';
import { tooDeep, tooMuch } from './failures.ts';
import { JsonDepth, MAX_DEPTH } from './json-depth.ts';

type Sdk = typeof SdkModule;
type RequestId = string | number;

/** Streams that broke off are taken up again so often, and never sooner than this, whatever the server asks for. */
const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};
const END_SESSION_TIMEOUT_MS = 1_000;

export interface HttpTransportNeeds {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly random: () => number;
  /** An answer that cannot be taken: to this request; undefined for the stream that belongs to none. */
  readonly onRefused: (id: RequestId | undefined, failure: ToolFailure) => void;
}

export function httpTransport(sdk: Sdk, settings: McpHttpSettings, needs: HttpTransportNeeds): Transport {
  const { http, clock, random, onRefused } = needs;
  const { url, headers, egress, limits } = settings;
  const current = new AsyncLocalStorage<RequestId | undefined>();
  const fetch = http.fetch(egress, limits.maxMessageBytes);
  const inner = new sdk.StreamableHTTPClientTransport(new URL(url), {
    fetch: async (input, init) => {
      const id = current.getStore();
      const response = await fetch(input, { ...init, redirect: 'manual' });
      return bounded(response, limits.maxMessageBytes, (failure) => onRefused(id, failure));
    },
    requestInit: { headers: { ...headers } },
    reconnectionOptions: RECONNECTION,
    reconnectionScheduler: (reconnect, delay) => {
      const least = Math.max(delay, RECONNECTION.initialReconnectionDelay);
      return clock.after(Math.min(least, RECONNECTION.maxReconnectionDelay) * (1 + random()), reconnect);
    },
    onInsufficientScope: 'throw',
  });
  return withIds(inner, current, clock);
}

/** Each message is sent in a context that knows which request it is: what comes back is then told to the right one. */
function withIds(
  inner: InstanceType<Sdk['StreamableHTTPClientTransport']>,
  current: AsyncLocalStorage<RequestId | undefined>,
  clock: Clock,
): Transport {
  const send = inner.send.bind(inner);
  const close = inner.close.bind(inner);
  inner.send = (message: JSONRPCMessage, options?: TransportSendOptions) =>
    current.run('method' in message && 'id' in message ? message.id : undefined, send, message, options);
  inner.close = async () => {
    if (inner.sessionId !== undefined) await within(END_SESSION_TIMEOUT_MS, clock, inner.terminateSession());
    await close();
  };
  return inner;
}

async function bounded(
  response: Response,
  maxBytes: number,
  onRefused: (failure: ToolFailure) => void,
): Promise<Response> {
  const type = (response.headers.get('content-type') ?? '').toLowerCase();
  const { status, statusText, headers } = response;
  if (response.body !== null && type.startsWith('text/event-stream')) {
    return new Response(
      response.body.pipeThrough(boundedEvents(maxBytes, onRefused)).pipeThrough(exactEvents()),
      {
        status,
        statusText,
        headers,
      },
    );
  }
  if (!type.startsWith('application/json')) return response;
  const body = new Uint8Array(await response.arrayBuffer());
  if (!new JsonDepth().pushAll(body)) throw tooDeep(MAX_DEPTH);
  const json = new TextDecoder().decode(body);
  const excess = body.length >= LARGE_JSON_BYTES ? tooMuchIn(json, MAX_DEPTH) : undefined;
  if (excess === 'values' || excess === 'names') throw tooMuch(boundOf(excess));
  // The SDK parses it, and would round what no double holds.
  return new Response(body.length === 0 ? null : withExactNumbers(json), { status, statusText, headers });
}

/** Settles in time, whatever comes of it. */
function within(ms: number, clock: Clock, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const stop = clock.after(ms, resolve);
    const done = () => {
      stop();
      resolve();
    };
    work.then(done, done);
  });
}
