// ListChanges: streams that tell clients when the tools have changed, and tasks: subscriptions/listen, and GET of 2025.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SharedSlots } from '../../../lib/concurrency/shared-slots.ts';
import type { Principal } from '../../../contract/call/principal.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { Toolsets } from '../../../ports/registry/toolsets.ts';
import type { Gauge } from '../../../ports/telemetry/metrics.ts';
import { environmentOf } from '../../rest/execute/read-call.ts';
import type { WatchedTasks } from '../tasks/task-watch.ts';
import type { Exchange } from '../protocol/exchange.ts';
import { SseAnswer, type ReaderLost } from '../protocol/sse-answer.ts';
import { Subscription } from './subscription.ts';

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

/** What a client of 2026-07-28 is to be told of. */
export interface Wish {
  readonly toolsListChanged: boolean;
  /** Throws ToolFailure. */
  readonly watch: (gone: AbortSignal) => Promise<WatchedTasks>;
}

interface OpenStream extends Listener {
  /** When the gateway closes. */
  readonly end: () => void;
  /** When its credential is good no more. */
  readonly cut: () => void;
}

export class ListChanges {
  readonly #listeners = new Set<() => void>();
  readonly #slots = new SharedSlots(MOST_STREAMS);
  readonly #open = new Set<OpenStream>();
  readonly #unsubscribe: () => void;
  readonly #looking: NodeJS.Timeout;
  readonly #count: Gauge;
  readonly #readerLost: (why: ReaderLost) => void;
  #isClosed = false;

  constructor(toolsets: Pick<Toolsets, 'onChange'>, count: Gauge, readerLost: (why: ReaderLost) => void) {
    this.#count = count;
    this.#readerLost = readerLost;
    this.#unsubscribe = toolsets.onChange(() => void this.#tell());
    this.#looking = setInterval(() => void this.#cutWithdrawn(), LOOK_MS);
    this.#looking.unref();
  }

  /** False: too many are open already, or the gateway is closing. Resolves when the stream is over, or its client has gone. */
  async listen(reply: FastifyReply, exchange: Exchange, listener: Listener, wish: Wish): Promise<boolean> {
    // It closes no more: nothing would give the slot back.
    if (reply.raw.destroyed) return true;
    const leave = this.#enter(listener.tenant);
    if (leave === undefined) return false;
    const gone = new AbortController();
    const over = () => {
      gone.abort();
      leave();
    };
    reply.raw.once('close', over);
    const { toolsListChanged, watch } = wish;
    let tasks: WatchedTasks;
    try {
      tasks = await watch(gone.signal);
    } catch (error) {
      over();
      throw error;
    }
    const subscription = new Subscription(exchange);
    const { agreed: taskIds } = tasks;
    subscription.acknowledge({
      ...(toolsListChanged && { toolsListChanged }),
      ...(taskIds.length > 0 && { taskIds: [...taskIds] }),
    });
    const cut = () => void reply.raw.destroy();
    const stream = { ...listener, end: () => subscription.end(), cut };
    const changed = () => subscription.toolsChanged();
    this.#open.add(stream);
    if (toolsListChanged) this.#listeners.add(changed);
    if (this.#isClosed) stream.end();
    // Whoever cannot be told asks anew.
    tellOf(tasks, subscription, stream, gone.signal).then(() => toolsListChanged || subscription.end(), cut);
    await closed(reply);
    this.#listeners.delete(changed);
    this.#open.delete(stream);
    return true;
  }

  /** The same of 2025: a stream without a request. */
  async follow(reply: FastifyReply, listener: Listener): Promise<boolean> {
    if (reply.raw.destroyed) return true;
    const leave = this.#enter(listener.tenant);
    if (leave === undefined) return false;
    const answer = new SseAnswer(reply, this.#readerLost);
    const changed = () => answer.push(CHANGED, true);
    const end = () => answer.end(undefined);
    const cut = () => {
      this.#listeners.delete(changed);
      end();
    };
    this.#listeners.add(changed);
    const stream = { ...listener, end, cut };
    this.#open.add(stream);
    await closed(reply);
    this.#listeners.delete(changed);
    this.#open.delete(stream);
    leave();
    return true;
  }

  /** Ends every stream: clients ask another replica. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    clearInterval(this.#looking);
    for (const { end } of this.#open) end();
  }

  async #tell(): Promise<void> {
    await this.#cutWithdrawn();
    for (const changed of this.#listeners) changed();
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

/** A credential that was withdrawn meanwhile hears nothing more. */
async function tellOf(
  { changes }: WatchedTasks,
  subscription: Subscription,
  { isGood, cut }: OpenStream,
  gone: AbortSignal,
): Promise<void> {
  for await (const task of changes) {
    if (gone.aborted) return;
    if (!(await isGood())) return cut();
    await subscription.taskChanged(task);
  }
}

function closed({ raw }: FastifyReply): Promise<void> {
  return new Promise((resolve) => {
    if (raw.destroyed) resolve();
    else raw.once('close', resolve);
  });
}
