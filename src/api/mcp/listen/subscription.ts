// Subscription: one stream of subscriptions/listen: what was agreed on, then what is told, each with the id of the request.
import { SERVER_INFO_META_KEY, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../contract/json.ts';
import { NAME } from '../protocol/era-server.ts';
import type { Exchange } from '../protocol/exchange.ts';

export class Subscription {
  readonly #exchange: Exchange;
  readonly #meta: JsonObject;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#meta = { [SUBSCRIPTION_ID_META_KEY]: exchange.asked.id };
  }

  acknowledge(notifications: JsonObject): void {
    const params = { notifications, _meta: this.#meta };
    this.#exchange.notify(
      { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params },
      false,
    );
  }

  /** One that waits for its reader says all that another one would. */
  toolsChanged(): void {
    const params = { _meta: this.#meta };
    this.#exchange.notify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params });
  }

  /** `fields`: JSON text of the task. Resolves once its reader is ready for the next, or has gone. */
  async taskChanged(fields: string): Promise<void> {
    const params = `{${fields},"_meta":${JSON.stringify(this.#meta)}}`;
    this.#exchange.tell(`{"jsonrpc":"2.0","method":"notifications/tasks","params":${params}}`, false);
    await this.#exchange.caughtUp();
  }

  /** There is nothing more to tell, or the gateway closes. */
  end(): void {
    const { id } = this.#exchange.asked;
    const result = { resultType: 'complete', _meta: { ...this.#meta, [SERVER_INFO_META_KEY]: NAME } };
    this.#exchange.answer({ jsonrpc: '2.0', id, result });
  }
}
