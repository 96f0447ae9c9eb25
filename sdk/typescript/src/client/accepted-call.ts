// AcceptedCall: one that runs later. It is found by its URL, also by another process.
import { errorOfRefusal } from '../errors/gateway-error.ts';
import type { CallView, Envelope, Meta } from '../generated/gateway.ts';
import { Deadline } from './deadline.ts';
import type { Requests, Terms } from './requests.ts';
import { isEnvelope } from './send-call.ts';
import type { CallResult } from './client.ts';

/** What a call says while it runs; `result` is the last, with the envelope, or null where none is kept. */
export type CallEvent =
  | { readonly event: 'result'; readonly id: string | undefined; readonly data: Envelope | null }
  | { readonly event: string; readonly id: string | undefined; readonly data: unknown };

const FORM = /^\/v1\/calls\/[^/?#]+$/;
const LOOK_MS = 1_000;

export class AcceptedCall {
  readonly url: string;
  /** Of the answer by which it was accepted. */
  readonly meta: Meta | undefined;
  readonly #requests: Requests;

  constructor(requests: Requests, url: string, meta?: Meta) {
    if (!FORM.test(url) || /\/\.{1,2}$/.test(url))
      throw new TypeError(`Expected the call_url of a call, found "${url}".`);
    this.#requests = requests;
    this.url = url;
    this.meta = meta;
  }

  get id(): string {
    return decodeURIComponent(this.url.slice(this.url.lastIndexOf('/') + 1));
  }

  /** What a human has to approve before it runs. */
  get approvalId(): string | undefined {
    return this.meta?.approval_id;
  }

  /** Where a human decides about that. */
  get approvalUrl(): string | undefined {
    return this.meta?.approval_url;
  }

  async get(terms: Terms = {}): Promise<CallView> {
    return (await this.#requests.send('GET', this.url, terms)).body as CallView;
  }

  /** A call that waits ends at once, one that runs is told. Rejects with ConflictError where it has ended. */
  async cancel(terms: Terms = {}): Promise<CallView> {
    return (await this.#requests.send('DELETE', this.url, terms)).body as CallView;
  }

  /** From the beginning, or after `lastEventId`; goes on over lost connections, and ends with `result`. */
  async *events(terms: Terms & { readonly lastEventId?: string } = {}): AsyncGenerator<CallEvent> {
    for await (const { event, id, data } of this.#requests.events(`${this.url}/events`, terms)) {
      yield { event, id, data: JSON.parse(data) as unknown };
      if (event === 'result') return;
    }
  }

  /** Waits for its end. Rejects with the class of the error's type, as `execute` does. */
  async result<Data = unknown>(terms: Terms = {}): Promise<CallResult<Data>> {
    for await (const { event, data } of this.events(terms)) {
      if (event !== 'result') continue;
      return resultOf(isEnvelope(data) ? data : await this.#ended(terms)) as CallResult<Data>;
    }
    throw new Error('The stream of events ended without a result.');
  }

  async #ended({ timeoutMs = Infinity, signal }: Terms): Promise<Envelope> {
    const deadline = new Deadline(timeoutMs, signal);
    for (;;) {
      const { result, finished_at: finishedAt, status } = await this.get({ signal });
      if (result !== null) return result;
      if (finishedAt !== null) throw new Error(`The call is ${status}; what it came back with is not kept.`);
      await deadline.pause(LOOK_MS);
    }
  }
}

function resultOf(envelope: Envelope): CallResult {
  if (envelope.ok) return envelope;
  throw errorOfRefusal(envelope);
}
