// ListChanges: streams that tell clients when the tools have changed: subscriptions/listen, which the SDK serves, and GET of 2025.
import { Readable } from 'node:stream';
import { createMcpHandler, InMemoryServerEventBus, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SharedSlots } from '../../../lib/concurrency/shared-slots.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { CAPABILITIES, EraServer } from './era-server.ts';
import { SseAnswer } from './sse-answer.ts';

/** Of this replica. */
const MOST_STREAMS = 1_000;
const CHANGED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });

export class ListChanges {
  readonly #bus = new InMemoryServerEventBus();
  readonly #handler: McpHttpHandler;
  readonly #slots = new SharedSlots(MOST_STREAMS);
  readonly #open = new Set<() => void>();
  readonly #unsubscribe: () => void;
  #isClosed = false;

  constructor(catalog: ToolCatalog) {
    this.#handler = createMcpHandler(() => new EraServer('modern', CAPABILITIES), {
      legacy: 'reject',
      bus: this.#bus,
      maxSubscriptions: MOST_STREAMS,
    });
    this.#unsubscribe = catalog.onChange(() => this.#bus.publish({ kind: 'tools_list_changed' }));
  }

  /** False: too many are open already, or the gateway is closing. Resolves when the stream is over. */
  async listen(
    request: FastifyRequest,
    reply: FastifyReply,
    tenant: string,
    body: unknown,
  ): Promise<boolean> {
    const leave = this.#enter(tenant);
    if (leave === undefined) return false;
    const gone = new AbortController();
    this.#open.add(leave);
    reply.raw.once('close', () => {
      gone.abort();
      this.#open.delete(leave);
      leave();
    });
    const asked = new Request('http://gateway/mcp', {
      method: 'POST',
      headers: headersOf(request),
      body: JSON.stringify(body),
      signal: gone.signal,
    });
    const { status, headers, body: events } = await this.#handler.fetch(asked, { parsedBody: body });
    reply.hijack();
    reply.raw.writeHead(status, { ...Object.fromEntries(headers), connection: 'close' });
    if (events === null) reply.raw.end();
    else
      Readable.fromWeb(events as never)
        .once('error', () => reply.raw.destroy())
        .pipe(reply.raw);
    await closed(reply);
    return true;
  }

  /** The same of 2025: a stream without a request. */
  async follow(reply: FastifyReply, tenant: string): Promise<boolean> {
    const leave = this.#enter(tenant);
    if (leave === undefined) return false;
    const stream = new SseAnswer(reply, () => reply.raw.destroy());
    const unsubscribe = this.#bus.subscribe(() => stream.push(CHANGED, true));
    const end = () => stream.end(undefined);
    this.#open.add(end);
    await closed(reply);
    unsubscribe();
    this.#open.delete(end);
    leave();
    return true;
  }

  /** Ends every stream: clients ask another replica. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe();
    for (const end of this.#open) end();
    await this.#handler.close();
  }

  #enter(tenant: string): (() => void) | undefined {
    return this.#isClosed ? undefined : this.#slots.take(tenant);
  }
}

function headersOf({ headers }: FastifyRequest): Headers {
  const copied = new Headers();
  for (const [name, said] of Object.entries(headers)) {
    if (typeof said === 'string' && name !== 'content-length') copied.set(name, said);
  }
  return copied;
}

function closed({ raw }: FastifyReply): Promise<void> {
  return new Promise((resolve) => {
    if (raw.destroyed) resolve();
    else raw.once('close', resolve);
  });
}
