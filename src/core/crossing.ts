// Crossing: one passage of one call through one extension. It ends with the extension's answer, or without it when the call's time is over.
import { callLogFields } from '../contract/call/call-log-fields.ts';
import type { Extension, Next } from '../contract/plugin.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { ToolCall } from '../contract/call/tool-call.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { Histogram } from '../ports/telemetry/metrics.ts';
import { deadlineIn, enteredAt, leftAt, stampAsked, stampLeft, type Step } from './deadline.ts';
import { refusalOf } from './settle.ts';

/** An extension with its options merged and checked: what a chain is made of. */
export interface Layer {
  readonly name: string;
  readonly extension: Extension<unknown>;
  readonly options: unknown;
  /** Gets the seconds spent in this extension itself, without what it wraps. */
  readonly seconds: Histogram;
}

export class Crossing implements Step {
  outer: Step | undefined;
  readonly #layer: Layer;
  readonly #call: ToolCall;
  readonly #log: Log;
  readonly #resolve: (response: ToolResponse) => void;
  readonly #enteredAt: number;
  /** The inside's answer, once asked for. Never rejects. */
  #inside: Promise<ToolResponse> | undefined;
  #askedAt = 0;
  #givenUp: ToolFailure | undefined;
  #over = false;
  /** The extension itself has ended, in time or not. */
  #ended = false;
  #toldLate = false;

  constructor(layer: Layer, call: ToolCall, log: Log, resolve: (response: ToolResponse) => void) {
    this.#layer = layer;
    this.#call = call;
    this.#log = log;
    this.#resolve = resolve;
    this.#enteredAt = enteredAt(call);
  }

  get hasAskedInside(): boolean {
    return this.#inside !== undefined;
  }

  enter(inner: Next): void {
    const { extension, options } = this.#layer;
    deadlineIn(this.#call)?.enter(this);
    const next: Next = (call) => this.#next(inner, call);
    try {
      // An extension that is no TypeScript may return something that is no promise.
      Promise.resolve(extension.around(this.#call, next, options)).then(
        (response) => this.#answered(response),
        (error: unknown) => this.#threw(inner, error),
      );
    } catch (error) {
      this.#threw(inner, error);
    }
  }

  /** The call's time is over: it goes on without the extension, which may end whenever it likes. */
  giveUp(reason: ToolFailure): void {
    if (this.#over || this.#givenUp !== undefined) return;
    this.#givenUp = reason;
    // What the inside has answered already is kept; what it has not is not waited for.
    const nothing = Promise.resolve(undefined);
    void Promise.race([this.#inside ?? nothing, nothing]).then((inside) =>
      this.#settle(this.#without(reason, inside)),
    );
  }

  reportLate(): void {
    if (this.#ended) return;
    this.#toldLate = true;
    this.#warn('an extension did not end with its call, which went on without it');
  }

  #next(inner: Next, call: ToolCall): Promise<ToolResponse> {
    if (this.#inside !== undefined) {
      return Promise.reject(new Error('next() was called a second time: a call runs once'));
    }
    if (this.#givenUp !== undefined) return Promise.resolve(refusalOf(call, this.#givenUp));
    this.#askedAt = performance.now();
    stampAsked(call, this.#askedAt);
    this.#inside = inner(call);
    return this.#inside;
  }

  #answered(response: ToolResponse): void {
    this.#ended = true;
    if (this.#over) this.#ignored();
    else this.#settle(response);
  }

  #threw(inner: Next, error: unknown): void {
    this.#ended = true;
    if (this.#over || this.#givenUp !== undefined) return this.#ignored();
    void this.#afterThrow(inner, error).then((response) => this.#settle(response));
  }

  /**
   * A ToolFailure from a `deny` extension is its refusal. Anything else is a crash: `deny` refuses the call,
   * `continue` goes on without the extension, and never runs the inside twice.
   */
  async #afterThrow(inner: Next, error: unknown): Promise<ToolResponse> {
    const { extension, name } = this.#layer;
    const denies = extension.onFailure === 'deny';
    const refuses = denies && error instanceof ToolFailure;
    if (!refuses)
      this.#log.error({ ...callLogFields(this.#call), extension: name, err: error }, 'extension crashed');
    if (!denies) return this.#inside ?? this.#next(inner, this.#call);
    return this.#refused(refuses ? error : crashed(name, error), await this.#inside);
  }

  #without(reason: ToolFailure, inside: ToolResponse | undefined): ToolResponse {
    const continues = this.#layer.extension.onFailure === 'continue';
    return continues && inside !== undefined ? inside : this.#refused(reason, inside);
  }

  #refused(failure: ToolFailure, inside: ToolResponse | undefined): ToolResponse {
    const refusal = refusalOf(this.#call, failure);
    return inside === undefined ? refusal : { ...refusal, meta: inside.meta };
  }

  #settle(response: ToolResponse): void {
    if (this.#over) return;
    this.#over = true;
    const now = performance.now();
    // The last to be left before it was the one inside.
    const insideMs = this.#inside === undefined ? 0 : Math.max(0, leftAt(this.#call) - this.#askedAt);
    this.#layer.seconds.observe((now - this.#enteredAt - insideMs) / 1000);
    stampLeft(this.#call, now);
    deadlineIn(this.#call)?.leave(this);
    this.#resolve(response);
  }

  #ignored(): void {
    if (this.#toldLate) this.#warn('an extension ended after its call, and what it answered is ignored');
  }

  #warn(message: string): void {
    this.#log.warn({ ...callLogFields(this.#call), extension: this.#layer.name }, message);
  }
}

function crashed(extension: string, cause: unknown): ToolFailure {
  const message = `The call was refused because the gateway's "${extension}" step failed.`;
  return new ToolFailure('INTERNAL', message, { reason: 'EXTENSION_FAILED', cause });
}
