// The transport to a server over HTTP: the SDK's own, on the guarded fetch, with answers bounded, and large ones read, before
// it parses them.
import { AsyncLocalStorage } from 'node:async_hooks';
import type * as SdkModule from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import type { JsonValue } from '../../../contract/json.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { HttpClient } from '../../../ports/egress/http-client.ts';
import type { McpHttpSettings } from '../../../ports/egress/mcp-servers.ts';
import { settledWithin } from '../../../lib/timers/settled-within.ts';
import { withExactNumbers } from '../../../lib/json/exact-json.ts';
import { eventReader, type EventReaderOptions } from './event-reader.ts';
import { invalidAnswer, tooDeep } from '../failures.ts';
import { JsonDepth, MAX_DEPTH } from './json-depth.ts';
import { isLargeMessage, readLargeMessage } from './large-message.ts';
import { isMessage } from './message-form.ts';
import { StandIns } from './stand-ins.ts';

type Sdk = typeof SdkModule;
type RequestId = string | number;
type Inner = InstanceType<Sdk['StreamableHTTPClientTransport']>;

/** Streams that broke off are taken up again so often, and never sooner than this, whatever the server asks for. */
const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};
const END_SESSION_TIMEOUT_MS = 1_000;
/** In one answer, as servers of 2025-03-26 may send them. */
const MOST_TOGETHER = 100;

export interface HttpTransportNeeds {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly random: () => number;
  /** An answer that cannot be taken: to this request; undefined for the stream that belongs to none. */
  readonly onRefused: (id: RequestId | undefined, failure: ToolFailure) => void;
  /** Something in an event stream that is no message. */
  readonly onGarbage: () => void;
}

type Events = Omit<EventReaderOptions, 'onRefused'>;

export function httpTransport(sdk: Sdk, settings: McpHttpSettings, needs: HttpTransportNeeds): Transport {
  const { http, clock, random, onRefused, onGarbage } = needs;
  const { url, headers, egress, limits } = settings;
  const current = new AsyncLocalStorage<RequestId | undefined>();
  const fetch = http.fetch(egress, limits.maxMessageBytes);
  const standIns = new StandIns();
  const standIn = standIns.for.bind(standIns);
  const events: Events = { maxBytes: limits.maxMessageBytes, clock, standIn, onGarbage };
  const inner = new sdk.StreamableHTTPClientTransport(new URL(url), {
    fetch: async (input, init) => {
      const id = current.getStore();
      const response = await fetch(input, { ...init, redirect: 'manual' });
      if (isEventStream(response)) {
        return withBody(
          response,
          response.body?.pipeThrough(
            eventReader({ ...events, onRefused: (failure) => onRefused(id, failure) }),
          ),
        );
      }
      return id !== undefined && response.ok && mediaType(response) === 'application/json'
        ? withBody(response, await jsonOf(response, standIn))
        : response;
    },
    requestInit: { headers: { ...headers } },
    reconnectionOptions: RECONNECTION,
    reconnectionScheduler: (reconnect, delay) => {
      const least = Math.max(delay, RECONNECTION.initialReconnectionDelay);
      return clock.after(Math.min(least, RECONNECTION.maxReconnectionDelay) * (1 + random()), reconnect);
    },
    onInsufficientScope: 'throw',
  });
  return withOriginals(withIds(inner, current, clock), standIns);
}

/** Whoever listens gets the messages themselves. */
function withOriginals(inner: Inner, standIns: StandIns): Transport {
  const start = inner.start.bind(inner);
  const close = inner.close.bind(inner);
  inner.start = async () => {
    const { onmessage } = inner;
    Object.assign(inner, {
      onmessage: (message: JSONRPCMessage) => onmessage?.(standIns.original(message)),
    });
    await start();
  };
  inner.close = async () => {
    await close();
    standIns.clear();
  };
  return inner;
}

/** Each message is sent in a context that knows which request it is: what comes back is then told to the right one. */
function withIds(inner: Inner, current: AsyncLocalStorage<RequestId | undefined>, clock: Clock): Inner {
  const send = inner.send.bind(inner);
  const close = inner.close.bind(inner);
  inner.send = (message: JSONRPCMessage, options?: TransportSendOptions) =>
    current.run('method' in message && 'id' in message ? message.id : undefined, send, message, options);
  inner.close = async () => {
    if (inner.sessionId !== undefined)
      await settledWithin(clock, END_SESSION_TIMEOUT_MS, inner.terminateSession());
    await close();
  };
  return inner;
}

/** What the SDK may parse in one go. Throws ToolFailure. */
async function jsonOf(response: Response, standIn: Events['standIn']): Promise<string | undefined> {
  const body = Buffer.from(await response.arrayBuffer());
  if (body.length === 0) return undefined;
  const isLarge = isLargeMessage(body);
  const value = isLarge ? await readLargeMessage(body) : shortJson(body);
  const messages = [value].flat();
  if (messages.length > MOST_TOGETHER) {
    throw invalidAnswer(`its answer holds more than ${MOST_TOGETHER} messages`);
  }
  if (!areMessages(messages)) throw invalidAnswer('its answer is no message of JSON-RPC');
  return JSON.stringify(isLarge ? messages.map(standIn) : value);
}

function areMessages(values: readonly unknown[]): values is readonly JSONRPCMessage[] {
  return values.every(isMessage);
}

/** Undefined: it is none. */
function shortJson(body: Buffer): JsonValue | undefined {
  if (!new JsonDepth().pushAll(body)) throw tooDeep(MAX_DEPTH);
  try {
    return JSON.parse(withExactNumbers(body.toString('utf8'))) as JsonValue;
  } catch {
    return undefined;
  }
}

function isEventStream(response: Response): boolean {
  return response.body !== null && mediaType(response) === 'text/event-stream';
}

/** As the SDK tells what to do with an answer. */
function mediaType({ headers }: Response): string {
  return (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function withBody(
  { status, statusText, headers }: Response,
  body: ReadableStream<Uint8Array> | string | undefined,
): Response {
  return new Response(body ?? null, { status, statusText, headers });
}
