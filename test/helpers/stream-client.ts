// A client of streams over a WebSocket, as a voice orchestrator has one: it sends, and waits for what comes.
import { WebSocket } from 'ws';

export interface StreamMessage {
  readonly type: string;
  readonly seq?: number;
  readonly id?: string;
  readonly ok?: boolean;
  readonly result?: unknown;
  readonly text?: string;
  readonly error?: { readonly type: string; readonly reason: string; readonly message: string } & Record<
    string,
    unknown
  >;
  readonly meta?: Record<string, unknown>;
  readonly [field: string]: unknown;
}

export interface StreamTarget {
  readonly url: string;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

interface Waiting {
  readonly wants: (message: StreamMessage) => boolean;
  readonly take: (message: StreamMessage) => void;
  readonly fail: (error: Error) => void;
}

export class StreamClient {
  readonly socket: WebSocket;
  /** Everything that came, in its order. */
  readonly messages: StreamMessage[] = [];
  readonly closed: Promise<Closed>;
  readonly #waiting = new Set<Waiting>();
  #taken = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        resolve({ code, reason: reason.toString() });
        for (const { fail } of this.#waiting) fail(new Error(`closed with ${code} ${reason.toString()}`));
      });
    });
    socket.on('error', () => undefined);
    socket.on('message', (data) =>
      this.#heard(JSON.parse((data as Buffer).toString('utf8')) as StreamMessage),
    );
  }

  /** Rejects with the status and the body where the upgrade is refused. */
  static async open({ url, key, headers, protocols = ['ute.v1'] }: StreamTarget): Promise<StreamClient> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/stream`, [...protocols], {
      headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
    });
    const client = new StreamClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
      socket.once('unexpected-response', (_request, response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('end', () => {
          const body = text === '' ? {} : (JSON.parse(text) as object);
          reject(
            Object.assign(new Error(`refused with ${response.statusCode}`), {
              status: response.statusCode,
              body,
            }),
          );
        });
      });
    });
    return client;
  }

  /** With a stream that has begun. */
  static async start(
    target: StreamTarget,
    fields: object = {},
  ): Promise<StreamClient & { started: StreamMessage }> {
    const client = await StreamClient.open(target);
    client.send({ type: 'start', ...fields });
    const started = await client.next('started');
    return Object.assign(client, { started });
  }

  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The next of this type that nobody has waited for yet. */
  next(type: string): Promise<StreamMessage> {
    return this.nextWhere((message) => message.type === type);
  }

  nextWhere(wants: (message: StreamMessage) => boolean): Promise<StreamMessage> {
    for (let at = this.#taken; at < this.messages.length; at += 1) {
      const message = this.messages[at] as StreamMessage;
      if (!wants(message)) continue;
      this.#taken = at + 1;
      return Promise.resolve(message);
    }
    this.#taken = this.messages.length;
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        wants,
        take: (message) => {
          this.#taken = this.messages.length;
          resolve(message);
        },
        fail: reject,
      };
      this.#waiting.add(waiting);
    });
  }

  /** One call, and its result. */
  async call(toolName: string, args: object = {}, more: object = {}): Promise<StreamMessage> {
    this.send({ type: 'tool_call', tool_name: toolName, arguments: args, ...more });
    return this.next('tool_result');
  }

  /** The greatest number that came. */
  get lastSeq(): number {
    return Math.max(0, ...this.messages.map(({ seq = 0 }) => seq));
  }

  close(): void {
    this.socket.close(1000);
  }

  /** As a cable that is cut. */
  cut(): void {
    this.socket.terminate();
  }

  #heard(message: StreamMessage): void {
    this.messages.push(message);
    for (const waiting of this.#waiting) {
      if (!waiting.wants(message)) continue;
      this.#waiting.delete(waiting);
      waiting.take(message);
      return;
    }
  }
}
