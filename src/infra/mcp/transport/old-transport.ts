// The transport of 2024-11-05, HTTP with SSE: one stream for all answers, and messages to an endpoint that it names. The SDK's own, on
// the guarded fetch, with the stream bounded before it is parsed.
import type * as SdkModule from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { McpHttpSettings } from '../../../ports/egress/mcp-servers.ts';
import { connectionLost } from '../failures.ts';
import { eventReader } from './event-reader.ts';
import type { HttpTransportNeeds } from './http-transport.ts';
import { StandIns } from './stand-ins.ts';

/** The event that names the endpoint comes first. */
const MOST_ENDPOINT_BYTES = 8_192;

export function oldTransport(
  sdk: typeof SdkModule,
  { url, headers, egress, limits }: McpHttpSettings,
  { http, clock, onRefused, onGarbage }: HttpTransportNeeds,
): Transport {
  const fetch = http.fetch(egress, limits.maxMessageBytes);
  const standIns = new StandIns();
  let isOpened = false;
  const inner = new sdk.SSEClientTransport(new URL(url), {
    fetch: async (input, init) => {
      const isStream = (init?.method ?? 'GET') === 'GET';
      // A stream that broke off took its session along: another one is another connection.
      if (isStream && isOpened) return new Response(null, { status: 204 });
      const response = await fetch(input, { ...init, redirect: 'manual' });
      const isEvents = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
      if (!isStream || !isEvents || response.body === null) return response;
      isOpened = true;
      const events = eventReader({
        maxBytes: limits.maxMessageBytes,
        clock,
        standIn: standIns.for.bind(standIns),
        onGarbage,
        onRefused: (failure) => onRefused(undefined, failure),
      });
      const body = withEnd(response.body.pipeThrough(afterEndpoint(events)), () =>
        onRefused(undefined, connectionLost()),
      );
      const { status, statusText } = response;
      return new Response(body, { status, statusText, headers: response.headers });
    },
    requestInit: { headers: { ...headers } },
  });
  const start = inner.start.bind(inner);
  const close = inner.close.bind(inner);
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => undefined);
  inner.start = async () => {
    const { onmessage } = inner;
    Object.assign(inner, {
      onmessage: (message: JSONRPCMessage) => onmessage?.(standIns.original(message)),
    });
    // Closed before the endpoint was named, it would wait for ever.
    await Promise.race([start(), closed.promise]);
  };
  inner.close = async () => {
    closed.reject(connectionLost());
    standIns.clear();
    await close();
  };
  return inner;
}

/** `ended` is called once, however the stream ends. */
function withEnd(stream: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      return ended();
    },
    cancel: (why) => reader.cancel(why),
  });
}

/** The first event as it is, and what follows by the reader of messages. */
function afterEndpoint(
  events: TransformStream<Uint8Array, Uint8Array>,
): TransformStream<Uint8Array, Uint8Array> {
  const writer = events.writable.getWriter();
  let first: Buffer | undefined = Buffer.alloc(0);
  const pumped = (controller: TransformStreamDefaultController<Uint8Array>) =>
    events.readable.pipeTo(
      new WritableStream({
        write: (chunk) => controller.enqueue(chunk),
        abort: (why) => controller.error(why),
      }),
    );
  let pump: Promise<void> = Promise.resolve();
  return new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => {
      pump = pumped(controller).catch((error: unknown) => controller.error(error));
    },
    transform: async (chunk, controller) => {
      if (first === undefined) return writer.write(chunk);
      first = Buffer.concat([first, chunk]);
      const end = /\r?\n\r?\n|\r\r/.exec(first.toString('latin1'));
      if (end === null) {
        if (first.length > MOST_ENDPOINT_BYTES) throw connectionLost();
        return undefined;
      }
      const at = end.index + end[0].length;
      controller.enqueue(first.subarray(0, at));
      const rest = first.subarray(at);
      first = undefined;
      return rest.length > 0 ? writer.write(rest) : undefined;
    },
    flush: async () => {
      await writer.close();
      await pump;
    },
  });
}
