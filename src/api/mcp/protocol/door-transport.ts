// DoorTransport: many requests of many clients through one server of the SDK: each has a number of its own there.
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/server';
import type { Answer, Exchange } from './exchange.ts';

/** By the code of an error that the protocol answers with itself; of 2025-era clients it is 200 throughout. */
const STATUS_OF_CODE: Readonly<Record<number, number>> = {
  [-32_700]: 400,
  [-32_600]: 400,
  [-32_601]: 404,
  [-32_602]: 400,
  [-32_021]: 400,
  [-32_022]: 400,
};

export class DoorTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #open = new Map<RequestId, Exchange>();
  #last = 0;
  /** While a request is being taken in: what is answered meanwhile is no handler's answer. */
  #taking: Exchange | undefined;

  async start(): Promise<void> {
    // There is nothing to open: requests are handed in.
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  deliver(request: JSONRPCRequest, exchange: Exchange): void {
    this.#last += 1;
    const id = this.#last;
    this.#open.set(id, exchange);
    this.#taking = exchange;
    try {
      this.onmessage?.({ ...request, id });
    } catch (error) {
      this.#open.delete(id);
      throw error;
    } finally {
      this.#taking = undefined;
    }
  }

  /** Of a request that a handler is given. */
  exchangeOf(id: RequestId): Exchange {
    const found = this.#open.get(id);
    if (found === undefined) throw new Error('this request is answered already');
    return found;
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message) {
      if (!('id' in message)) this.#open.get(options?.relatedRequestId ?? '')?.notify(message);
      return;
    }
    this.#answer(message);
  }

  #answer(message: Answer): void {
    const { id } = message;
    if (id === undefined || id === null) return;
    const exchange = this.#open.get(id);
    if (exchange === undefined) return;
    this.#open.delete(id);
    const isProtocols = exchange === this.#taking || ('error' in message && message.error.code === -32_021);
    if ('error' in message && isProtocols && exchange.asked.era === 'modern')
      exchange.status = STATUS_OF_CODE[message.error.code] ?? 200;
    exchange.answer(message);
  }
}
