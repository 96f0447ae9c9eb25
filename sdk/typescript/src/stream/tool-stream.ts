// ToolStream: a conversation that pauses at calls, over one connection after the other. docs/stream.md says what it promises.
import { ConnectionError, GatewayError } from '../errors/gateway-error.ts';
import type { Deadline } from '../client/deadline.ts';
import type { Session, ToolContext } from '../generated/gateway.ts';
import { Connection, type ConnectionNeeds } from './connection.ts';
import { Inbox } from './inbox.ts';
import type { StreamMessage, StreamStart } from './messages.ts';
import { piecesOf } from './pieces.ts';
import { StreamedCall } from './streamed-call.ts';

export interface StreamCallOptions {
  /** Of this call in this stream; made when left out. */
  readonly id?: string;
  /** Session, agent, user and mode are those of the stream. */
  readonly context?: Pick<
    ToolContext,
    'idempotency_key' | 'confirmation_token' | 'dry_run' | 'cursor' | 'tool_version' | 'toolset'
  >;
  readonly timeoutMs?: number;
}

/** Text, in characters, and messages that the gateway has not come to yet: whoever waits for room sends no more than that. */
const MOST_AHEAD = 65_536;
const MOST_UNCONFIRMED = 512;

export class ToolStream implements AsyncIterable<StreamMessage> {
  readonly #connection: Connection;
  readonly #inbox = new Inbox<StreamMessage>();
  readonly #calls = new Map<string, StreamedCall>();
  readonly #over: Promise<void>;
  #settle: (why: Error | undefined) => void = () => undefined;
  #whenRoom: (() => void)[] = [];
  #ahead = 0;
  #made = 0;
  #session: Session | undefined;
  readonly #base: string;
  #isEnding = false;
  #why: Error | undefined;

  private constructor(needs: Omit<ConnectionNeeds, 'heard' | 'confirmed' | 'over'>) {
    this.#base = needs.speaker.base;
    this.#connection = new Connection({
      ...needs,
      heard: (message) => this.#heard(message),
      confirmed: () => this.#look(),
      over: (why) => this.#ended(why),
    });
    this.#over = new Promise((resolve, reject) => {
      this.#settle = (why) => (why === undefined ? resolve() : reject(why));
    });
    this.#over.catch(() => undefined);
  }

  /** Rejects with what the gateway says, ConnectionError or DeadlineError. */
  static async begin(
    needs: Omit<ConnectionNeeds, 'heard' | 'confirmed' | 'over'>,
    said: StreamStart,
    deadline: Deadline,
  ): Promise<ToolStream> {
    const stream = new ToolStream(needs);
    const { session } = await stream.#connection.start(said, deadline);
    stream.#session = session;
    return stream;
  }

  /** As it was when the stream began. */
  get session(): Session {
    return this.#session as Session;
  }

  /** What the gateway says, in its order, over every connection. Read once, by one reader. */
  [Symbol.asyncIterator](): AsyncGenerator<StreamMessage, void> {
    return this.#inbox[Symbol.asyncIterator]();
  }

  /** A piece of the model's text: it comes back in its place. Resolves when there is room for more. */
  text(text: string): Promise<void> {
    for (const piece of piecesOf(text)) {
      this.#ahead += piece.length;
      this.#send({ type: 'text_delta', text: piece });
    }
    return this.#room();
  }

  /** Calls a tool: what is said after it comes back after its result. */
  call(tool: string, args: object = {}, options: StreamCallOptions = {}): StreamedCall {
    const { id = this.#newId(), context, timeoutMs } = options;
    if (this.#calls.has(id)) throw new TypeError(`id: a call "${id}" is under way in this stream.`);
    const cancel = () => {
      if (this.#calls.has(id) && !this.#connection.isOver) this.#send({ type: 'tool_cancel', id });
    };
    const call = new StreamedCall(id, tool, { base: this.#base, cancel });
    this.#send({
      type: 'tool_call',
      id,
      tool_name: tool,
      // As it is now: it may be sent again.
      arguments: JSON.parse(JSON.stringify(args)) as Record<string, unknown>,
      ...(context !== undefined && { context }),
      ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    });
    this.#calls.set(id, call);
    return call;
  }

  /** Begins the next turn of the session, with budgets of its own. */
  startTurn(): Promise<void> {
    this.#send({ type: 'turn_start' });
    return this.#room();
  }

  /** `cancel`: calls that are under way are given up, since the caller speaks already. */
  endTurn({ cancel = false }: { readonly cancel?: boolean } = {}): Promise<void> {
    this.#send({ type: 'turn_end', cancel });
    return this.#room();
  }

  /** Ends it once its calls have ended, and the session that it declared, unless `endSession` says otherwise. */
  async end({ endSession }: { readonly endSession?: boolean } = {}): Promise<void> {
    if (!this.#isEnding && !this.#connection.isOver)
      this.#send({ type: 'end', ...(endSession !== undefined && { end_session: endSession }) });
    this.#isEnding = true;
    await this.#over;
  }

  /** Ends it at once: calls that are under way are given up. */
  close(): void {
    this.#connection.close();
  }

  #send(message: Parameters<Connection['send']>[0]): void {
    if (this.#connection.isOver || this.#isEnding)
      throw this.#why ?? new ConnectionError('The stream is over.', { notSent: true });
    this.#connection.send(message);
  }

  get #hasRoom(): boolean {
    return this.#ahead <= MOST_AHEAD && this.#connection.unconfirmed <= MOST_UNCONFIRMED;
  }

  async #room(): Promise<void> {
    while (!this.#hasRoom && !this.#connection.isOver)
      await new Promise<void>((resolve) => this.#whenRoom.push(resolve));
  }

  #heard(message: StreamMessage): void {
    if (message.type === 'text_delta') this.#ahead -= message.text.length;
    if (message.type === 'tool_result') {
      this.#calls.get(message.id)?.settle(message);
      this.#calls.delete(message.id);
    }
    this.#inbox.push(message);
    this.#look();
  }

  #ended(why: Error | undefined): void {
    // Its end was said, and what told it was lost: it is over all the same.
    const isGone = why instanceof GatewayError && why.reason === 'STREAM_NOT_FOUND';
    this.#why = this.#isEnding && isGone && this.#calls.size === 0 ? undefined : why;
    for (const call of this.#calls.values())
      call.fail(this.#why ?? new ConnectionError(`The stream ended before the result of ${call.tool} came.`));
    this.#calls.clear();
    this.#inbox.end(this.#why);
    this.#look();
    this.#settle(this.#why);
  }

  #look(): void {
    if (this.#hasRoom || this.#connection.isOver) for (const resolve of this.#whenRoom.splice(0)) resolve();
  }

  #newId(): string {
    do this.#made += 1;
    while (this.#calls.has(`call_${this.#made}`));
    return `call_${this.#made}`;
  }
}
