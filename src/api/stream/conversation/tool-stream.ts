// ToolStream: one conversation. What its client says is taken in order; what follows a call is said after the call's result.
import { toolFailure } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Sessions } from '../../../sessions/sessions.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import { invalid } from '../../rest/route/violations.ts';
import type { ClientMessageOf } from '../messages/client-messages.ts';
import type { Inbound } from '../messages/read-message.ts';
import type { StreamMessage } from '../messages/server-messages.ts';
import { MOST_HELD, MOST_HELD_SIZE, OrderedOutput } from './ordered-output.ts';
import { Outbox, type Reader } from './outbox.ts';
import { readStreamCall } from './read-stream-call.ts';
import { StreamCalls } from './stream-calls.ts';
import type { Speaker, StreamState } from './stream-state.ts';
import { StreamTurns } from './stream-turns.ts';

/** When so much waits, for a call or for the reader, nothing more is taken from the client. */
const FULL_SIZE = 256 << 10;
const FULL_COUNT = 1_024;
const AROUND = 100;

export interface StreamNeeds {
  readonly caller: Pick<ToolCaller, 'execute'>;
  readonly sessions: Pick<Sessions, 'get' | 'nextTurn'>;
  readonly counts: {
    readonly said: (type: string) => void;
    readonly leftOut: () => void;
  };
  /** The client is through with it, and no call is under way: whether its session was ended, where that is wanted. */
  readonly end: (endSession: boolean) => Promise<boolean>;
  /** It has said its last. */
  readonly over: () => void;
}

export class ToolStream {
  readonly #needs: StreamNeeds;
  readonly #whose: Omit<StreamState, 'next' | 'kept' | 'received' | 'named' | keyof StreamTurns['state']>;
  readonly #turns: StreamTurns;
  #received: number;
  readonly #outbox: Outbox<StreamMessage>;
  readonly #output: OrderedOutput<StreamMessage>;
  readonly #calls: StreamCalls;
  #speaker: Speaker;
  #isEnding = false;
  #isDraining = false;
  #whenRoom: (() => void)[] = [];
  #whenSent: (() => void)[] = [];

  constructor(state: StreamState, speaker: Speaker, needs: StreamNeeds) {
    const { next, kept, received, named, turn: _turn, isTurnNew: _new, isTurnOver: _over, ...whose } = state;
    this.#whose = whose;
    this.#turns = new StreamTurns(needs.sessions, state);
    this.#received = received;
    this.#needs = needs;
    this.#speaker = speaker;
    this.#outbox = new Outbox(kept, next);
    this.#output = new OrderedOutput(({ message, size }) => this.#send(message, size));
    this.#calls = new StreamCalls(named, {
      caller: needs.caller,
      isOverfull: () => this.#outbox.unsentSize > MOST_HELD_SIZE || this.#output.held > MOST_HELD,
      leftOut: needs.counts.leftOut,
      ended: () => this.#look(),
    });
  }

  get id(): string {
    return this.#whose.id;
  }

  get sessionId(): string {
    return this.#whose.sessionId;
  }

  get received(): number {
    return this.#received;
  }

  /** In the order of their making. */
  get openCalls(): readonly string[] {
    return this.#calls.ids;
  }

  /** As it could go on elsewhere. Only where no call is under way. */
  get state(): StreamState {
    const said = { next: this.#outbox.last + 1, kept: this.#outbox.kept };
    return {
      ...this.#whose,
      ...this.#turns.state,
      received: this.#received,
      named: this.#calls.named,
      ...said,
    };
  }

  get owner(): Pick<StreamState, 'principalId' | 'tenantId' | 'tokenHash'> {
    return this.#whose;
  }

  /** So much waits that the client has to. */
  get isFull(): boolean {
    const waiting = this.#output.heldSize + this.#outbox.unsentSize;
    return waiting > FULL_SIZE || this.#output.held > FULL_COUNT;
  }

  /** Resolves when it is full no more. */
  async room(): Promise<void> {
    while (this.isFull) await new Promise<void>((resolve) => this.#whenRoom.push(resolve));
  }

  /** Resolves when a reader was given everything. */
  async #sent(): Promise<void> {
    while (this.#outbox.isBehind) await new Promise<void>((resolve) => this.#whenSent.push(resolve));
  }

  /** Resolves when no call is under way. */
  idle(): Promise<void> {
    return this.#calls.idle();
  }

  /** Whether everything after `seq` is kept. */
  keeps(seq: number): boolean {
    return this.#outbox.keeps(seq);
  }

  /** Only from where it keeps everything. */
  attach(reader: Reader<StreamMessage>, speaker: Speaker, seq: number): void {
    this.#speaker = speaker;
    this.#outbox.attach(reader, seq);
    this.#look();
  }

  detach(): void {
    this.#outbox.detach();
    this.#look();
  }

  drained(): void {
    this.#outbox.drained();
    this.#look();
  }

  /** From now on nothing is taken; what is under way goes on. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Gives up the calls that are under way. */
  abort(): void {
    this.#calls.abort();
  }

  /** One message of the client. In the order of their coming: the next one waits for what this gives. */
  take(inbound: Inbound): void | Promise<void> {
    if (this.#isEnding || this.#isDraining) return;
    this.#received += 1;
    if (inbound.kind === 'malformed') return this.tell(inbound.failure);
    if (inbound.kind === 'call') return this.#call(inbound);
    const { message } = inbound;
    switch (message.type) {
      case 'text_delta':
        return this.#say({ type: 'text_delta', text: message.text }, message.text.length);
      case 'tool_cancel':
        return this.#cancel(message);
      case 'turn_start':
        return this.#startTurn();
      case 'turn_end':
        return this.#endTurn(message);
      case 'end':
        return void this.#end(message);
      case 'start':
      case 'resume':
      case 'ping':
        return this.tell(
          invalid('/type', `cannot be ${message.type}: the stream has begun, and its connection with it`),
        );
    }
  }

  /** What is wrong with something that the client said. At once: it waits for no call. */
  tell({ type, reason, message, retryable, retryAfterMs, details }: ToolFailure): void {
    const failure = { type, reason, message, retryable, retryAfterMs, details };
    this.#send({ type: 'error', failure }, message.length + 2 * AROUND);
  }

  #call({ call, largeIntegers, refusal }: Extract<Inbound, { kind: 'call' }>): void | Promise<void> {
    const { id = this.#calls.newId(), tool_name: toolName = '' } = call;
    if (this.#calls.has(id)) return this.tell(invalid('/id', 'must be of no other call that is under way'));
    const { tenantId, sessionId, language } = this.#whose;
    const { credential } = this.#speaker;
    const refused = refusal ?? this.#refusal();
    const terms = { credential, tenantId, sessionId, turnId: this.#turns.id, language, refusal: refused };
    const request = readStreamCall(call, terms, largeIntegers);
    this.#turns.use();
    const ran = this.#calls.run({ id, toolName, request }, this.#output.open());
    // Many that are refused are so one by one.
    if (refused !== undefined) return ran;
  }

  #refusal(): ToolFailure | undefined {
    if (!this.#turns.isOver) return this.#calls.refusal();
    return toolFailure('TURN_OVER', 'The turn was ended: begin the next one with turn_start.');
  }

  #cancel({ id }: ClientMessageOf<'tool_cancel'>): void {
    if (!this.#calls.cancel(id))
      this.tell(toolFailure('CALL_NOT_FOUND', 'No call of this id is under way in this stream.'));
  }

  async #startTurn(): Promise<void> {
    try {
      const { budgets } = await this.#turns.start(this.#speaker.principal);
      this.#say({ type: 'turn_started', turnId: this.#turns.id, budgets }, budgets.length * AROUND);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      this.tell(error);
    }
  }

  #endTurn({ cancel = false }: ClientMessageOf<'turn_end'>): void {
    if (cancel) this.abort();
    this.#turns.end();
    this.#say({ type: 'turn_ended', turnId: this.#turns.id }, 0);
  }

  async #end({ end_session: said }: ClientMessageOf<'end'>): Promise<void> {
    this.#isEnding = true;
    await this.idle();
    const sessionEnded = await this.#needs.end(said ?? this.#whose.isDeclared);
    this.#send({ type: 'ended', sessionEnded }, 0);
    await this.#sent();
    this.#needs.over();
  }

  #say(message: StreamMessage, size: number): void {
    this.#output.say({ message, size: size + AROUND });
  }

  #send(message: StreamMessage, size: number): void {
    this.#needs.counts.said(message.type);
    this.#outbox.push(message, size);
    if (message.type === 'tool_result') this.#look();
  }

  #look(): void {
    if (!this.#outbox.isBehind) for (const resolve of this.#whenSent.splice(0)) resolve();
    if (!this.isFull) for (const resolve of this.#whenRoom.splice(0)) resolve();
  }
}
