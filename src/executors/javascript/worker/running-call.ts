// RunningCall: one call inside a worker thread, and the only way for it to say anything.
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { CallEvent } from '../../../contract/call/tool-call.ts';
import type { CallMeta, HandlerCall } from '../handler-context.ts';
import type { CallBody, FromWorker, StepReply } from '../threads/messages.ts';
import { callIsOver, ToolCallError } from '../tool-call-error.ts';
import { PrintedText } from './printed-text.ts';

export type Post = (kind: FromWorker['kind'], id: string, body: string) => void;

// Taken before any handler is loaded: one that replaces them deceives itself alone.
const { parse, stringify } = JSON;

/** A call that reports more than this is no longer telling anybody anything. */
const MAX_EVENTS = 10_000;

interface Waiting {
  resolve(data: JsonValue): void;
  reject(error: Error): void;
}

export class RunningCall implements HandlerCall {
  readonly id: string;
  readonly arguments: JsonObject;
  readonly config: JsonObject;
  readonly secrets: JsonObject;
  readonly meta: CallMeta;
  readonly printed: PrintedText;
  readonly #post: Post;
  readonly #steps = new Map<number, Waiting>();
  #events = 0;
  #lengthLeft: number;
  #lastStep = 0;
  #aborter: AbortController | undefined;
  #abortedWith: Error | undefined;
  #over = false;
  readonly #ends: (() => void)[] = [];

  constructor(id: string, body: string, maxLength: number, post: Post) {
    const { arguments: args, config, secrets, meta } = parse(body) as CallBody;
    this.id = id;
    this.arguments = args;
    this.config = config;
    this.secrets = secrets;
    this.meta = meta;
    this.#lengthLeft = maxLength;
    this.#post = post;
    this.printed = new PrintedText((level, text) => this.#send('printed', stringify({ level, text })));
  }

  get over(): boolean {
    return this.#over;
  }

  /** Most handlers never look at it. */
  get signal(): AbortSignal {
    if (this.#aborter === undefined) {
      this.#aborter = new AbortController();
      if (this.#abortedWith !== undefined) this.#aborter.abort(this.#abortedWith);
    }
    return this.#aborter.signal;
  }

  abort(reason: Error): void {
    this.#abortedWith = reason;
    this.#aborter?.abort(reason);
  }

  /** Log lines beyond the limit are dropped; a handler that reports without end is told so. */
  emit(event: CallEvent): void {
    if (this.#over) return;
    const text = stringify(event);
    this.#events += 1;
    this.#lengthLeft -= text.length;
    if (this.#events <= MAX_EVENTS && this.#lengthLeft >= 0) this.#send('event', text);
    else if (event.kind !== 'log')
      throw new RangeError(`The call reports without end: ${event.kind} refused.`);
  }

  callTool(tool: string, args: JsonObject): Promise<JsonValue> {
    return new Promise((resolve, reject) => {
      if (this.#over) return reject(callIsOver());
      const step = (this.#lastStep += 1);
      this.#steps.set(step, { resolve, reject });
      this.#send('step', stringify({ step, tool, arguments: args }));
    });
  }

  replied(step: number, body: string): void {
    const waiting = this.#steps.get(step);
    if (waiting === undefined || !this.#steps.delete(step)) return;
    const reply = parse(body) as StepReply;
    if (reply.ok) waiting.resolve(reply.data);
    else waiting.reject(new ToolCallError(reply.error));
  }

  /** Done when the call is over, however it ended. */
  ends(task: () => void): void {
    this.#ends.push(task);
  }

  /** False if it was over already. */
  end(): boolean {
    if (this.#over) return false;
    this.printed.flush();
    this.#over = true;
    for (const task of this.#ends) task();
    return true;
  }

  #send(kind: FromWorker['kind'], body: string): void {
    if (!this.#over) this.#post(kind, this.id, body);
  }
}
