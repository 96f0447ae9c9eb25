// Exchange: one request of a client on its way: who asks, what is beside the message, and where the answer goes.
import type {
  JSONRPCErrorResponse,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResultResponse,
  RequestId,
} from '@modelcontextprotocol/server';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '../../../contract/json.ts';
import type { LargeIntegers } from '../../../contract/call/tool-call.ts';
import type { Principal } from '../../../contract/call/principal.ts';
import { answerAtEndOfTurn } from '../../../lib/timers/end-of-turn.ts';
import type { TraceContext } from '../../../lib/trace/trace-context.ts';
import type { CallEnvironment } from '../../rest/execute/read-call.ts';
import { SseAnswer, type ReaderLost } from './sse-answer.ts';

/** How a revision of the protocol talks: 2026-07-28, or what was before it. */
export type Era = 'modern' | 'legacy';

export interface Asked {
  readonly era: Era;
  /** The revision that the client names; empty: none. */
  readonly version: string;
  /** As the client counts its requests. */
  readonly id: RequestId;
  readonly environment: Omit<CallEnvironment, 'whenGone'>;
  /** What the query says of the context of its calls, in the wire's snake_case. */
  readonly context: JsonObject;
  /** Pointers into the message. */
  readonly largeIntegers: LargeIntegers;
  /** The value of WWW-Authenticate, should the credential be no good. */
  readonly challenge: string;
  /** Where approvers reach this gateway. */
  readonly approvalsUrl: () => string;
  /** Whether the client takes a stream. */
  readonly takesEvents: boolean;
  /** Of a 2025-era client that has one. */
  readonly session: string | undefined;
  /** Of everything but calls: these say who calls inside the pipeline. */
  readonly principal?: Principal;
}

export type Answer = JSONRPCResultResponse | JSONRPCErrorResponse;

/** How it was answered; cancelled: it was not, since nobody waited. */
export type DoorOutcome = 'ok' | 'tool_error' | 'error' | 'cancelled';

export interface Ended {
  readonly outcome: DoorOutcome;
  /** Of an error of JSON-RPC. */
  readonly code?: number;
}

export class Exchange {
  readonly asked: Asked;
  /** Resolves when the answer is out, or nobody is there to read it. */
  readonly done: Promise<void>;
  /** Of the answer, where that is no stream. */
  status = 200;
  /** The trace that its call belongs to, where somebody records it. */
  trace: TraceContext | undefined;
  /** Known once it is done. */
  ended: Ended = { outcome: 'cancelled' };
  #settle: () => void = () => undefined;
  readonly #reply: FastifyReply;
  readonly #readerLost: (why: ReaderLost) => void;
  readonly #listeners: (() => void)[] = [];
  readonly #headers: Record<string, string> = {};
  #isGone = false;
  #isOver = false;
  #pasted: string | undefined;
  #stream: SseAnswer | undefined;

  /** `readerLost`: whoever reads a stream of events too slowly, or not at all, was sent away. */
  constructor(asked: Asked, reply: FastifyReply, readerLost: (why: ReaderLost) => void) {
    this.asked = asked;
    this.#reply = reply;
    this.#readerLost = readerLost;
    this.done = new Promise((resolve) => {
      this.#settle = resolve;
    });
    const close = () => {
      if (!reply.raw.writableFinished) this.cancel();
      this.#over();
    };
    // A client that has gone already is told of no more.
    if (reply.raw.destroyed) close();
    else reply.raw.once('close', close);
  }

  /** Calls back when the client has gone away, or wants the answer no more. */
  readonly whenGone = (listener: () => void): void => {
    if (this.#isGone) listener();
    else this.#listeners.push(listener);
  };

  cancel(): void {
    if (this.#isGone || this.#isOver) return;
    this.#isGone = true;
    for (const listener of this.#listeners) listener();
  }

  /** Of the answer, where that is no stream. */
  header(name: string, value: string): void {
    this.#headers[name] = value;
  }

  /** Fields of the result that are JSON text already: what a tool answered goes out as it was encoded. */
  paste(fields: string): void {
    this.#pasted = fields;
  }

  /** Before the answer. Left out where the client takes no stream, or reads too slowly for what may be left out. */
  notify(message: JSONRPCNotification | JSONRPCRequest, mayBeLeftOut = true): void {
    this.tell(JSON.stringify(message), mayBeLeftOut);
  }

  /** The same of JSON text. */
  tell(message: string, mayBeLeftOut: boolean): void {
    if (this.#isOver || this.#isGone || !this.asked.takesEvents) return;
    this.#stream ??= new SseAnswer(this.#reply, this.#readerLost);
    this.#stream.push(message, mayBeLeftOut);
  }

  /** Once its client has what it was told so far, or has gone. */
  async caughtUp(): Promise<void> {
    await this.#stream?.caughtUp();
  }

  /** Only the first counts. */
  answer(message: Answer): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.ended = endedBy(message);
    const text = this.#textOf(message);
    if (this.#stream !== undefined) {
      this.#stream.end(text);
      return;
    }
    // With other answers that are ready in this turn of the event loop, as REST's are.
    answerAtEndOfTurn(() => {
      if (!this.#reply.raw.destroyed) this.#send(text);
      this.#settle();
    });
  }

  /** Of a request that was cancelled: nothing answers it. */
  endWithout(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#stream !== undefined) this.#stream.end(undefined);
    else if (!this.#reply.raw.destroyed) this.#reply.code(202).send();
    this.#settle();
  }

  #send(text: string): void {
    if (this.status === 401) this.#reply.header('www-authenticate', this.asked.challenge);
    this.#reply
      .code(this.status)
      .headers({ ...this.#headers, 'content-type': 'application/json' })
      .send(text);
  }

  #textOf(message: Answer): string {
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(this.asked.id)}`;
    if ('error' in message) return `${head},"error":${JSON.stringify(message.error)}}`;
    const result = JSON.stringify(message.result);
    if (this.#pasted === undefined) return `${head},"result":${result}}`;
    return `${head},"result":{${this.#pasted}${result === '{}' ? '' : ','}${result.slice(1)}}`;
  }

  #over(): void {
    this.#isOver = true;
    this.#settle();
  }
}

function endedBy(message: Answer): Ended {
  if ('error' in message) return { outcome: 'error', code: message.error.code };
  return { outcome: message.result['isError'] === true ? 'tool_error' : 'ok' };
}
