// StreamedCall: one call in a stream, and its result when it has come.
import { errorOfRefusal } from '../errors/gateway-error.ts';
import { withApprovalUrl } from '../client/approval-url.ts';
import type { CallResult } from '../client/client.ts';
import type { Envelope } from '../generated/gateway.ts';
import type { ServerMessageOf } from './messages.ts';

export class StreamedCall {
  readonly id: string;
  readonly tool: string;
  readonly #envelope: Promise<Envelope>;
  readonly #base: string;
  readonly #cancel: () => void;
  #resolve: (envelope: Envelope) => void = () => undefined;
  #reject: (why: Error) => void = () => undefined;

  constructor(
    id: string,
    tool: string,
    { base, cancel }: { readonly base: string; readonly cancel: () => void },
  ) {
    this.id = id;
    this.tool = tool;
    this.#base = base;
    this.#cancel = cancel;
    this.#envelope = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever reads the messages of the stream need not ask for the result here.
    this.#envelope.catch(() => undefined);
  }

  /** Rejects with the class of the error's type where it did not succeed, and with what ended the stream. */
  async result<Data = unknown>(): Promise<CallResult<Data>> {
    const envelope = await this.#envelope;
    if (envelope.ok) return envelope as CallResult<Data>;
    throw errorOfRefusal(envelope);
  }

  /** The envelope, whatever it says. Rejects only where the stream ended without it. */
  tryResult(): Promise<Envelope> {
    return this.#envelope;
  }

  /** Gives the call up: its result says so, and whether it may have done something. */
  cancel(): void {
    this.#cancel();
  }

  /** Of the stream alone. */
  settle(message: ServerMessageOf<'tool_result'>): void {
    this.#resolve(withApprovalUrl(envelopeOf(message), this.#base));
  }

  /** Of the stream alone. */
  fail(why: Error): void {
    this.#reject(why);
  }
}

/** A result as REST answers it. */
export function envelopeOf({ ok, result, intents, error, meta }: ServerMessageOf<'tool_result'>): Envelope {
  if (ok || error === undefined) return { ok: true, data: result, intents: intents ?? [], meta };
  return { ok: false, error, meta };
}
