// ListChanges: streams that tell clients when the tools have changed: subscriptions/listen, which the SDK serves, and GET of 2025.
import { Readable } from 'node:stream';
import { createMcpHandler, InMemoryServerEventBus, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SharedSlots } from '../../../lib/concurrency/shared-slots.ts';
import type { Principal } from '../../../contract/call/principal.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { Toolsets } from '../../../ports/registry/toolsets.ts';
import type { Gauge } from '../../../ports/telemetry/metrics.ts';
import { environmentOf } from '../../rest/execute/read-call.ts';
import { capabilitiesOf, EraServer } from './era-server.ts';
import { SseAnswer } from './sse-answer.ts';

/** Of this replica. */
const MOST_STREAMS = 1_000;
/** While nothing changes. */
const LOOK_MS = 15_000;
const CHANGED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });

export interface Listener {
  readonly tenant: string;
  /** Whether its credential is good still. Asked before every change is told, and while there is none. */
  readonly isGood: () => Promise<boolean>;
}

interface OpenStream extends Listener {
  /** When the gateway closes. */
  readonly end: () => void;
  /** When its credential is good no more. */
  readonly cut: () => void;
}

export class ListChanges {
  readonly #bus = new InMemoryServerEventBus();
  readonly #handler: McpHttpHandler;
  readonly #slots = new SharedSlots(MOST_STREAMS);
  readonly #open = new Set<OpenStream>();
  readonly #unsubscribe: () => void;
  readonly #looking: NodeJS.Timeout;
  readonly #count: Gauge;
  #isClosed = false;

  constructor(toolsets: Pick<Toolsets, 'onChange'>, count: Gauge) {
    this.#count = count;
    this.#handler = createMcpHandler(() => new EraServer('modern', capabilitiesOf('modern')), {
      legacy: 'reject',
      bus: this.#bus,
      maxSubscriptions: MOST_STREAMS,
    });
    this.#unsubscribe = toolsets.onChange(() => void this.#tell());
    this.#looking = setInterval(() => void this.#cutWithdrawn(), LOOK_MS);
    this.#looking.unref();
  }

  /** False: too many are open already, or the gateway is closing. Resolves when the stream is over, or its client has gone. */
  async listen(
    request: FastifyRequest,
    reply: FastifyReply,
    listener: Listener,
    body: unknown,
  ): Promise<boolean> {
    // It closes no more: nothing would give the slot back.
    if (reply.raw.destroyed) return true;
    const leave = this.#enter(listener.tenant);
    if (leave === undefined) return false;
    const gone = new AbortController();
    const stream = { ...listener, end: leave, cut: () => void reply.raw.destroy() };
    this.#open.add(stream);
    reply.raw.once('close', () => {
      gone.abort();
      this.#open.delete(stream);
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
    if (reply.raw.destroyed) return true;
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
  async follow(reply: FastifyReply, listener: Listener): Promise<boolean> {
    if (reply.raw.destroyed) return true;
    const leave = this.#enter(listener.tenant);
    if (leave === undefined) return false;
    const answer = new SseAnswer(reply, () => reply.raw.destroy());
    const unsubscribe = this.#bus.subscribe(() => answer.push(CHANGED, true));
    const end = () => answer.end(undefined);
    const cut = () => {
      unsubscribe();
      end();
    };
    const stream = { ...listener, end, cut };
    this.#open.add(stream);
    await closed(reply);
    unsubscribe();
    this.#open.delete(stream);
    leave();
    return true;
  }

  /** Ends every stream: clients ask another replica. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe();
    clearInterval(this.#looking);
    for (const { end } of this.#open) end();
    await this.#handler.close();
  }

  async #tell(): Promise<void> {
    await this.#cutWithdrawn();
    this.#bus.publish({ kind: 'tools_list_changed' });
  }

  async #cutWithdrawn(): Promise<void> {
    const look = async ({ isGood, cut }: OpenStream) => {
      if (!(await isGood())) cut();
    };
    await Promise.all([...this.#open].map(look));
  }

  #enter(tenant: string): (() => void) | undefined {
    const leave = this.#isClosed ? undefined : this.#slots.take(tenant);
    if (leave === undefined) return undefined;
    this.#count.add(1);
    let isIn = true;
    return () => {
      if (isIn) this.#count.add(-1);
      isIn = false;
      leave();
    };
  }
}

export function listenerOf(
  request: FastifyRequest,
  { tenantId }: Pick<Principal, 'tenantId'>,
  authenticator: Pick<Authenticator, 'authenticate'>,
): Listener {
  const { credential, traced } = environmentOf(request, () => undefined);
  const isGood = async () => {
    try {
      await authenticator.authenticate(credential, traced.tenantId);
      return true;
    } catch {
      return false;
    }
  };
  return { tenant: tenantId, isGood };
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
