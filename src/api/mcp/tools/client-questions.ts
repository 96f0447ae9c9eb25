// ClientQuestions: what this door asks 2025-era clients, in the stream of the request that it is about: to send their user to a URL.
import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import type { Exchange } from '../protocol/exchange.ts';

export interface Question {
  /** Of what is waited for: the client is told by it when that is done. */
  readonly id: string;
  readonly message: string;
  readonly url: string;
  /** Of `_meta`. */
  readonly meta?: JsonObject;
}

export interface AskedQuestion {
  /** accept, decline or cancel, as the client says; pending for ever where it says nothing. */
  readonly action: Promise<string>;
  /** No answer is taken any more. */
  withdraw(): void;
  /** What the user was sent to is done. */
  complete(): void;
}

export class ClientQuestions {
  readonly #open = new Map<string, (action: string) => void>();

  ask(exchange: Exchange, { id: elicitationId, message, url, meta }: Question): AskedQuestion {
    const id = `ute-${randomUUID()}`;
    const _meta = meta && { _meta: meta };
    const params = { mode: 'url', elicitationId, message, url, ..._meta };
    const action = new Promise<string>((resolve) => this.#open.set(id, resolve));
    exchange.notify({ jsonrpc: '2.0', id, method: 'elicitation/create', params }, false);
    const complete = () =>
      exchange.notify(
        {
          jsonrpc: '2.0',
          method: 'notifications/elicitation/complete',
          params: { elicitationId, ..._meta },
        },
        false,
      );
    return { action, withdraw: () => void this.#open.delete(id), complete };
  }

  /** What a client answers. An id is known to nobody but the client that was asked. */
  answered(message: unknown): void {
    if (!isJsonObject(message) || typeof message['id'] !== 'string') return;
    const { id, result } = message;
    const action = isJsonObject(result) && typeof result['action'] === 'string' ? result['action'] : 'cancel';
    this.#open.get(id)?.(action);
  }
}

export function questionOf(tool: string): string {
  return `A human has to approve this call of ${tool}. It goes on once somebody has.`;
}
