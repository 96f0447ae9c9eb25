// A client of Converse, as grpc-js gives it: it says, and waits for what comes.
import { resolve } from 'node:path';
import {
  credentials,
  loadPackageDefinition,
  Metadata,
  type ClientDuplexStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** As it is on the wire, its bytes of JSON read. */
export interface ConverseMessage {
  readonly seq: number;
  /** Which of the messages it is. */
  readonly message: string;
  readonly [field: string]: unknown;
}

interface Service {
  Converse(metadata: Metadata): ClientDuplexStream<object, ConverseMessage>;
  close(): void;
}

const definition = loadSync('unified_tool_executor/v1/tool_executor_service.proto', {
  includeDirs: [resolve(import.meta.dirname, '../../proto')],
  enums: String,
  oneofs: true,
  longs: Number,
  defaults: true,
});

export class ConverseClient {
  readonly call: ClientDuplexStream<object, ConverseMessage>;
  readonly messages: ConverseMessage[] = [];
  /** The gRPC status that it ended with. */
  readonly ended: Promise<ServiceError | undefined>;
  readonly #service: Service;
  readonly #waiting: {
    readonly wants: (message: ConverseMessage) => boolean;
    readonly take: (message: ConverseMessage) => void;
  }[] = [];
  #taken = 0;

  constructor(address: string, key: string | undefined, beside: Readonly<Record<string, string>> = {}) {
    const loaded = loadPackageDefinition(definition) as unknown as {
      unified_tool_executor: {
        v1: { ToolExecutorService: new (address: string, credentials: object) => Service };
      };
    };
    this.#service = new loaded.unified_tool_executor.v1.ToolExecutorService(
      address,
      credentials.createInsecure(),
    );
    const metadata = new Metadata();
    if (key !== undefined) metadata.set('authorization', `Bearer ${key}`);
    for (const [name, value] of Object.entries(beside)) metadata.set(name, value);
    this.call = this.#service.Converse(metadata);
    this.call.on('data', (message: ConverseMessage) => this.#heard(message));
    this.ended = new Promise((done) => {
      this.call.once('error', (error: ServiceError) => done(error));
      this.call.once('end', () => done(undefined));
    });
  }

  send(message: object): void {
    this.call.write(message);
  }

  toolCall(toolName: string, args: object = {}, more: object = {}): void {
    this.send({ toolCall: { toolName, argumentsJson: Buffer.from(JSON.stringify(args)), ...more } });
  }

  /** The next of this kind that nobody has waited for yet, by its name. */
  async next(name: string): Promise<Record<string, unknown>> {
    const found = await this.nextWhere(({ message }) => message === name);
    return found[name] as Record<string, unknown>;
  }

  nextWhere(wants: (message: ConverseMessage) => boolean): Promise<ConverseMessage> {
    for (let at = this.#taken; at < this.messages.length; at += 1) {
      const message = this.messages[at] as ConverseMessage;
      if (!wants(message)) continue;
      this.#taken = at + 1;
      return Promise.resolve(message);
    }
    this.#taken = this.messages.length;
    return new Promise((take) => this.#waiting.push({ wants, take }));
  }

  close(): void {
    this.call.cancel();
    this.#service.close();
  }

  #heard(message: ConverseMessage): void {
    this.messages.push(message);
    const at = this.#waiting.findIndex(({ wants }) => wants(message));
    if (at < 0) return;
    this.#taken = this.messages.length;
    this.#waiting.splice(at, 1)[0]?.take(message);
  }
}

/** What a result holds. */
export function resultOf({ resultJson }: Record<string, unknown>): unknown {
  return JSON.parse((resultJson as Buffer).toString('utf8'));
}
