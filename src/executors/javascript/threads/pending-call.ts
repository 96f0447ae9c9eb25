// PendingCall: one request that a worker thread has not answered yet.
import type { CallEvent } from '../../../contract/call/tool-call.ts';
import type { JsonValue } from '../../../contract/json.ts';
import {
  ProtocolViolation,
  parseBody,
  parseLargeBody,
  readEvent,
  readPrinted,
  readStep,
  tooMuchInBody,
  type FromWorker,
  type PrintedLevel,
  type StepRequest,
} from './messages.ts';
import { isLarge } from '../../../lib/concurrency/in-slices.ts';
import { tooMuchInLarge, type TooMuch } from '../../../lib/json/json-bounds.ts';
import { tooDeep, tooLong, tooMany, unusable } from './worker-failures.ts';

export type Answer =
  | { readonly kind: 'returned' | 'exports'; readonly value: JsonValue }
  | { readonly kind: 'thrown'; readonly report: JsonValue };

/** What a call is told about while it runs. */
export interface CallListener {
  onEvent(event: CallEvent): void;
  onPrinted(level: PrintedLevel, line: string): void;
  /** The reply as JSON text. Never rejects. */
  onStep(request: StepRequest): Promise<string>;
}

/** Twice what the code in the worker lets through. */
const MAX_MESSAGES = 25_000;

export class PendingCall {
  readonly id: string;
  readonly answer: Promise<Answer>;
  readonly #listener: CallListener;
  readonly #settle = Promise.withResolvers<Answer>();
  #messages = 0;
  /** Nobody waits for the answer any more; the worker has not yet said that the call is over. */
  abandoned = false;
  /** The worker has heard that the call was given up: its event loop turns. */
  heard = false;
  disarm: (() => void) | undefined;

  constructor(id: string, listener: CallListener) {
    this.id = id;
    this.#listener = listener;
    this.answer = this.#settle.promise;
  }

  reject(error: unknown): void {
    this.#settle.reject(error);
  }

  /** Throws ProtocolViolation. */
  report({ kind, body }: FromWorker, reply: (step: number, body: string) => void): void {
    this.#messages += 1;
    if (this.#messages > MAX_MESSAGES) throw new ProtocolViolation('the call reports without end');
    if (this.abandoned) return;
    if (kind === 'event') return this.#listener.onEvent(readEvent(body));
    if (kind === 'printed') {
      const { level, text } = readPrinted(body);
      return this.#listener.onPrinted(level, text);
    }
    const request = readStep(body);
    void this.#listener.onStep(request).then((answer) => reply(request.step, answer));
  }

  /** A large answer is read in slices, and passed on when that is done. Throws, or rejects with, ProtocolViolation. */
  answered({ kind, body }: FromWorker): Promise<void> | undefined {
    if (kind === 'unusable') this.reject(unusable(body));
    else if (isLarge(body)) return this.#answeredAtLength(kind, body);
    else if (!this.#refused(tooMuchInBody(body))) this.#answer(kind, parseBody(body));
    return undefined;
  }

  async #answeredAtLength(kind: FromWorker['kind'], body: string): Promise<void> {
    if (this.#refused(await tooMuchInLarge(body))) return;
    const value = await parseLargeBody(body);
    if (value === undefined) this.reject(tooLong());
    else this.#answer(kind, value);
  }

  #refused(tooMuch: TooMuch | undefined): boolean {
    if (tooMuch !== undefined) this.reject(tooMuch === 'levels' ? tooDeep() : tooMany(tooMuch));
    return tooMuch !== undefined;
  }

  #answer(kind: FromWorker['kind'], value: JsonValue): void {
    this.#settle.resolve(kind === 'thrown' ? { kind, report: value } : { kind: kind as 'returned', value });
  }
}

/** For requests that are no calls. */
export const NO_LISTENER: CallListener = {
  onEvent: () => {},
  onPrinted: () => {},
  onStep: () => new Promise(() => {}),
};
