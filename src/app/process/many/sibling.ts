// Sibling: what a process that serves beside others knows of them, and where it gets its connections from: the primary.
import type { Socket } from 'node:net';
import type { JsonObject } from '../../../contract/json.ts';
import {
  isMessage,
  type Door,
  type MetricsFormat,
  type ProcessState,
  type ReadinessAnswer,
  type ToPrimary,
  type ToProcess,
} from './messages.ts';

/** What a process says of itself when the primary asks. */
export interface SaysOfItself {
  readiness(): ReadinessAnswer;
  exposition(format: MetricsFormat): Promise<{ readonly text: string }>;
}

export interface SiblingOrders {
  stop(): void;
  reload(): void;
}

/** What a process started by another speaks through. */
export interface Channel {
  readonly connected: boolean;
  on(event: 'message', heard: (received: unknown, connection: unknown) => void): unknown;
  once(event: 'disconnect', heard: () => void): unknown;
  send?(message: object, handle: undefined, options: undefined, sent: () => void): boolean;
}

export class Sibling {
  readonly index: number;
  readonly #channel: Channel;
  readonly #takers = new Map<Door, (connection: Socket) => void>();
  readonly #closed = new Map<Door, number>();
  #states: readonly ProcessState[] = [];
  #self: SaysOfItself | undefined;
  #orders: SiblingOrders | undefined;
  /** Told so by the primary, or left alone by it: maybe before there is anything to stop. */
  #isStopping = false;
  /** Why it takes no calls. */
  #reason: string | null = null;

  constructor(index: number, channel: Channel = process) {
    this.index = index;
    this.#channel = channel;
    channel.on('message', (received, connection) => {
      if (isMessage(received)) this.#heard(received as ToProcess, connection as Socket | undefined);
    });
    // Without the primary there are no more connections, and nobody to start this process again.
    channel.once('disconnect', () => this.#stop());
  }

  /** Of all processes, this one included; empty until the primary has told. */
  get states(): readonly ProcessState[] {
    return this.#states;
  }

  /** A stop that came while this process was starting is obeyed now. */
  obey(orders: SiblingOrders): void {
    this.#orders = orders;
    if (this.#isStopping) orders.stop();
  }

  says(self: SaysOfItself): void {
    this.#self = self;
  }

  /** Connections of that door, each once. */
  onConnection(door: Door, take: (connection: Socket) => void): void {
    this.#takers.set(door, take);
  }

  serves(pipeline: JsonObject): void {
    if (this.#isStopping) return;
    this.#tell({ ute: 'serving', pipeline, ...(this.#reason !== null && { reason: this.#reason }) });
  }

  /** Null: it takes calls again. */
  refuses(reason: string | null): void {
    this.#reason = reason;
    this.#tell({ ute: 'refusing', reason });
  }

  /** Connections that come after this are none of its own. */
  ends(): void {
    this.#tell({ ute: 'ending' });
  }

  /**
   * The beginning of a drain. One that ends by itself gets no more connections, since the others take them; where the primary
   * stops all of them, late calls get their refusal until the end.
   */
  drains(): void {
    if (!this.#isStopping) this.ends();
  }

  #heard(message: ToProcess, connection: Socket | undefined): void {
    if (message.ute === 'stop') this.#stop();
    else if (message.ute === 'reload') this.#orders?.reload();
    else if (message.ute === 'states') this.#states = message.states;
    else if (message.ute === 'ask') void this.#answer(message.id, message.what).catch(() => undefined);
    else if (connection !== undefined) this.#take(message.door, connection);
    // It was closed on its way: the primary counts it as open here until it is told.
    else this.#hasClosed(message.door);
  }

  #stop(): void {
    this.#isStopping = true;
    this.#orders?.stop();
  }

  #take(door: Door, connection: Socket): void {
    connection.once('close', () => this.#hasClosed(door));
    const take = this.#takers.get(door);
    if (take === undefined) return void connection.destroy();
    connection.setNoDelay(true);
    take(connection);
    connection.resume();
  }

  /** Those that end in one turn of the loop are told of together. */
  #hasClosed(door: Door): void {
    if (this.#closed.size === 0) setImmediate(() => this.#tellClosed());
    this.#closed.set(door, (this.#closed.get(door) ?? 0) + 1);
  }

  #tellClosed(): void {
    for (const [door, count] of this.#closed) this.#tell({ ute: 'closed', door, count });
    this.#closed.clear();
  }

  /** Rejects where it cannot be said: the primary leaves this process out then. */
  async #answer(id: number, what: 'readiness' | MetricsFormat): Promise<void> {
    if (this.#self === undefined) return;
    const answer = what === 'readiness' ? this.#self.readiness() : (await this.#self.exposition(what)).text;
    this.#tell({ ute: 'answer', id, answer });
  }

  #tell(message: ToPrimary): void {
    // The primary may be gone at any moment: then this process ends as well.
    if (this.#channel.connected) this.#channel.send?.(message, undefined, undefined, () => undefined);
  }
}
