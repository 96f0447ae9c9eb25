// Crossing: one passage of one call through one layer. It ends with the layer's answer, or without it when the call's time is over.
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import type { Extension, Layer, Next, Told } from '../../contract/plugin.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Histogram } from '../../ports/telemetry/metrics.ts';
import {
  deadlineIn,
  enteredAt,
  leftAt,
  stampAsked,
  stampLeft,
  type Deadline,
  type Step,
} from '../deadline.ts';
import { refusalOf } from '../settle.ts';

/** What a chain is made of: a layer as its extension prepared it, and what the chain must know of that extension. */
export interface NamedLayer {
  /** The extension's. */
  readonly name: string;
  readonly onFailure: Extension<unknown>['onFailure'];
  readonly layer: Layer;
  /** Gets the seconds spent in the layer itself, without what it wraps. */
  readonly seconds: Histogram;
  /** Told of each stretch of time that the layer itself took, by performance.now(). */
  readonly took?: (call: ToolCall, from: number, to: number) => void;
  /** The extension's. */
  readonly explains?: boolean;
}

export class Crossing implements Step {
  outer: Step | undefined;
  readonly #layer: NamedLayer;
  readonly #inner: Next;
  readonly #call: ToolCall;
  readonly #log: Log;
  readonly #deadline: Deadline | undefined;
  readonly #enteredAt: number;
  /** The inside's answer, once asked for. Never rejects. */
  #inside: Promise<ToolResponse> | undefined;
  #resolve: ((response: ToolResponse) => void) | undefined;
  #askedAt = 0;
  #givenUp: ToolFailure | undefined;
  #over = false;
  /** The layer itself has ended, in time or not. */
  #ended = false;
  #toldLate = false;

  constructor(layer: NamedLayer, inner: Next, call: ToolCall, log: Log) {
    this.#layer = layer;
    this.#inner = inner;
    this.#call = call;
    this.#log = log;
    this.#deadline = deadlineIn(call);
    this.#enteredAt = enteredAt(call);
  }

  get hasAskedInside(): boolean {
    return this.#inside !== undefined;
  }

  /** Once. What it gives never rejects. */
  cross(): Promise<ToolResponse> {
    this.#deadline?.enter(this);
    let answer: Promise<ToolResponse>;
    try {
      const given = this.#layer.layer(this.#call, (call) => this.#next(call));
      answer = given instanceof Promise || !isTold(given) ? given : this.#told(given);
    } catch (error) {
      return new Promise((resolve) => {
        this.#resolve = resolve;
        this.#threw(error);
      });
    }
    if (this.#inside !== undefined && answer === this.#inside && this.#givenUp === undefined)
      return this.#standAside(answer);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      // A layer that is no TypeScript may return something that is no promise.
      Promise.resolve(answer).then(
        (response) => this.#answered(response),
        (error: unknown) => this.#threw(error),
      );
    });
  }

  /** The call's time is over: it goes on without the layer, which may end whenever it likes. */
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

  /** Before anybody else listens to the answer. */
  #told(told: Told): Promise<ToolResponse> {
    const { answer } = told;
    answer.then(
      (response) => {
        try {
          const left: unknown = told.tell(response);
          // One that is no TypeScript, or an async function, which nothing keeps from being written.
          if (left instanceof Promise) left.catch((error: unknown) => this.#logCrash(error));
        } catch (error) {
          this.#logCrash(error);
        }
      },
      // Whoever waits for it takes it for a crash of the layer.
      () => undefined,
    );
    return answer;
  }

  /** The layer waits for nothing: the inside's answer is its answer, and nobody waits for the layer. */
  #standAside(answer: Promise<ToolResponse>): Promise<ToolResponse> {
    this.#over = true;
    this.#ended = true;
    this.#layer.seconds.observe((this.#askedAt - this.#enteredAt) / 1000);
    this.#layer.took?.(this.#call, this.#enteredAt, this.#askedAt);
    this.#deadline?.remove(this);
    return answer;
  }

  #next(call: ToolCall): Promise<ToolResponse> {
    if (this.#inside !== undefined) {
      return Promise.reject(new Error('next() was called a second time: a call runs once'));
    }
    if (this.#givenUp !== undefined) return Promise.resolve(refusalOf(call, this.#givenUp));
    this.#askedAt = performance.now();
    stampAsked(call, this.#askedAt);
    this.#inside = this.#inner(call);
    return this.#inside;
  }

  #answered(response: ToolResponse): void {
    this.#ended = true;
    if (this.#over) this.#ignored();
    else if (isResponse(response)) this.#settle(response);
    else
      this.#threw(new TypeError('a layer has to give a response, as next does, or { answer, tell } at once'));
  }

  #threw(error: unknown): void {
    this.#ended = true;
    if (this.#over || this.#givenUp !== undefined) return this.#ignored();
    void this.#afterThrow(error).then((response) => this.#settle(response));
  }

  /**
   * A ToolFailure from a `deny` extension is its refusal. Anything else is a crash: `deny` refuses the call,
   * `continue` goes on without the extension, and never runs the inside twice.
   */
  async #afterThrow(error: unknown): Promise<ToolResponse> {
    const { onFailure, name } = this.#layer;
    const denies = onFailure === 'deny';
    const refuses = denies && error instanceof ToolFailure;
    if (!refuses) this.#logCrash(error);
    if (!denies) return this.#inside ?? this.#next(this.#call);
    return this.#refused(refuses ? error : crashed(name, error), await this.#inside);
  }

  #logCrash(error: unknown): void {
    const fields = { ...callLogFields(this.#call), extension: this.#layer.name, err: error };
    this.#log.error(fields, 'extension crashed');
  }

  #without(reason: ToolFailure, inside: ToolResponse | undefined): ToolResponse {
    const continues = this.#layer.onFailure === 'continue';
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
    if (this.#layer.took !== undefined) this.#tellTook(this.#layer.took, now);
    stampLeft(this.#call, now);
    this.#deadline?.leave(this);
    this.#resolve?.(response);
  }

  #tellTook(took: NonNullable<NamedLayer['took']>, now: number): void {
    const call = this.#call;
    if (this.#inside === undefined) return took(call, this.#enteredAt, now);
    took(call, this.#enteredAt, this.#askedAt);
    took(call, Math.max(this.#askedAt, leftAt(call)), now);
  }

  #ignored(): void {
    if (this.#toldLate) this.#warn('an extension ended after its call, and what it answered is ignored');
  }

  #warn(message: string): void {
    this.#log.warn({ ...callLogFields(this.#call), extension: this.#layer.name }, message);
  }
}

/** As far as those outside rely on it. */
function isResponse(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'ok' in given && 'meta' in given;
}

/** A layer that is no TypeScript may return anything. */
function isTold(given: unknown): given is Told {
  return typeof given === 'object' && given !== null && 'tell' in given && 'answer' in given;
}

function crashed(extension: string, cause: unknown): ToolFailure {
  const message = `The call was refused because the gateway's "${extension}" step failed.`;
  return toolFailure('EXTENSION_FAILED', message, { cause });
}
