// WebhookSink: checkpoints as signed messages (Standard Webhooks), each body a piece of a file of checkpoints.
import { signedHeaders } from '../../../lib/secrets/webhook-signature.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { EgressPolicy, HttpClient } from '../../../ports/egress/http-client.ts';
import { MAX_ANSWER_BYTES, requireAccepted, type CheckpointBatch, type RemoteSink } from './remote-sink.ts';

export interface WebhookSinkOptions {
  readonly url: URL;
  /** The first signs, and the others too while receivers change. */
  readonly keys: readonly Buffer[];
  readonly egress: EgressPolicy;
  readonly http: HttpClient;
  readonly clock: Clock;
}

export class WebhookSink implements RemoteSink {
  readonly name = 'webhook';
  readonly #options: WebhookSinkOptions;

  constructor(options: WebhookSinkOptions) {
    this.#options = options;
  }

  async send({ text, id }: CheckpointBatch, signal: AbortSignal): Promise<void> {
    const { url, keys, egress, http, clock } = this.#options;
    const message = { id: `audit-checkpoints-${id}`, timestamp: Math.floor(clock.wall() / 1000), body: text };
    const { status } = await http.request({
      method: 'POST',
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      headers: {
        'content-type': 'application/jsonl',
        'user-agent': 'unified-tool-executor',
        ...signedHeaders(message, keys),
      },
      body: text,
      egress,
      maxResponseBytes: MAX_ANSWER_BYTES,
      signal,
    });
    requireAccepted(status);
  }
}
