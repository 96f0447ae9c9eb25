// Streams against a gateway that is a model: connections are lost wherever it hurts, and nothing is said twice, lost or out of order.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Deadline } from '../client/deadline.ts';
import { ConnectionError, errorOf } from '../errors/gateway-error.ts';
import type { Session } from '../generated/gateway.ts';
import type { LineEvents, OpenLine } from './line.ts';
import type { ClientMessage, ServerMessage } from './messages.ts';
import { ToolStream } from './tool-stream.ts';

const SESSION = { id: 'ses_1' } as Session;
const speaker = {
  credential: async () => 'key',
  hasTokens: false,
  tenant: undefined,
  base: 'http://gateway',
};

/** Echoes text, as a gateway does; keeps what it said; loses connections as it is told. */
class ModelGateway {
  readonly taken: string[] = [];
  readonly #said: ServerMessage[] = [];
  readonly #losses: number[];
  #events: LineEvents | undefined;
  #received = 0;
  #passed = 0;
  answersPings = true;
  isGone = false;

  /** After how many messages, in either direction, the connection is lost, one after the other. */
  constructor(losses: readonly number[] = []) {
    this.#losses = [...losses];
  }

  readonly open: OpenLine = async (_speaker, events) => {
    this.#events = events;
    this.#passed = 0;
    return {
      send: (message) => this.#take(message, events),
      end: () => this.lose(events),
      drop: () => this.lose(events),
    };
  };

  lose(events: LineEvents | undefined = this.#events): void {
    if (this.#events === events) this.#events = undefined;
  }

  /** True: it is lost, with this message. */
  #isLost(events: LineEvents): boolean {
    if (this.#events !== events) return true;
    this.#passed += 1;
    if (this.#losses.length === 0 || this.#passed <= (this.#losses[0] ?? 0)) return false;
    this.#losses.shift();
    this.#events = undefined;
    queueMicrotask(() => events.closed(new ConnectionError('lost')));
    return true;
  }

  #tell(events: LineEvents, message: ServerMessage): void {
    queueMicrotask(() => {
      if (!this.#isLost(events)) events.message(message);
    });
  }

  #say(message: ServerMessage): void {
    const numbered = { ...message, seq: this.#said.length + 1 } as ServerMessage;
    this.#said.push(numbered);
    if (this.#events !== undefined) this.#tell(this.#events, numbered);
  }

  #take(message: ClientMessage, events: LineEvents): void {
    if (this.#isLost(events)) return;
    if (message.type === 'start')
      return this.#tell(events, {
        type: 'started',
        stream_id: 's',
        resume_token: 't',
        resume_for_ms: 30_000,
        session: SESSION,
      });
    if (message.type === 'resume') return this.#resume(message.last_seq, events);
    if (message.type === 'ping') {
      if (this.answersPings) this.#tell(events, { type: 'pong', nonce: message.nonce ?? '' });
      return;
    }
    this.#received += 1;
    if (message.type === 'text_delta') {
      this.taken.push(message.text);
      this.#say({ type: 'text_delta', seq: 0, text: message.text });
    } else if (message.type === 'end') {
      this.#say({ type: 'ended', seq: 0, session_ended: true });
      queueMicrotask(() => queueMicrotask(() => this.#events?.closed(undefined)));
    }
  }

  #resume(lastSeq: number, events: LineEvents): void {
    if (this.isGone) return queueMicrotask(() => events.closed(NOT_FOUND));
    this.#tell(events, {
      type: 'resumed',
      stream_id: 's',
      session: SESSION,
      received: this.#received,
      open_calls: [],
    });
    for (const message of this.#said.slice(lastSeq)) this.#tell(events, message);
    if (this.#said.at(-1)?.type === 'ended')
      queueMicrotask(() => queueMicrotask(() => this.#events?.closed(undefined)));
  }
}

const NOT_FOUND = errorOf({
  type: 'NOT_FOUND',
  reason: 'STREAM_NOT_FOUND',
  message: 'There is no such stream.',
  retryable: false,
  partialSideEffects: false,
  origin: 'caller',
  details: {},
  status: 404,
});

const begin = (gateway: ModelGateway) =>
  ToolStream.begin({ open: gateway.open, speaker }, {}, new Deadline(20_000));

async function heard(stream: ToolStream): Promise<string[]> {
  const texts: string[] = [];
  for await (const message of stream) if (message.type === 'text_delta') texts.push(message.text);
  return texts;
}

describe('a stream over connections that are lost', () => {
  it('says everything once and in order, and hears it so', async () => {
    const losses = fc.array(fc.nat({ max: 30 }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(losses, fc.integer({ min: 0, max: 40 }), async (lost, count) => {
        const gateway = new ModelGateway(lost);
        const stream = await begin(gateway);
        const texts = Array.from({ length: count }, (_, at) => `t${at}`);
        for (const text of texts) await stream.text(text);
        await stream.end();
        expect(gateway.taken).toEqual(texts);
        expect(await heard(stream)).toEqual(texts);
      }),
      { numRuns: 25 },
    );
  });

  it('keeps no more than what the gateway has not taken, however long it goes on', async () => {
    const gateway = new ModelGateway();
    const stream = await begin(gateway);
    for (let at = 0; at < 3_000; at += 1) await stream.text('x');
    await stream.end();
    expect(gateway.taken).toHaveLength(3_000);
  });

  it('makes whoever waits for room wait, while the gateway takes nothing', async () => {
    const gateway = new ModelGateway();
    const stream = await begin(gateway);
    gateway.lose();
    let hasRoom = false;
    const waiting = stream.text('x'.repeat(70_000)).then(() => (hasRoom = true));
    await new Promise(setImmediate);
    expect(hasRoom).toBe(false);
    stream.close();
    await waiting;
  });

  it('is over without an error where its end was said, and what told it was lost', async () => {
    const gateway = new ModelGateway([3]);
    const stream = await begin(gateway);
    gateway.isGone = true;
    void stream.text('one');
    await stream.end();
    expect(() => stream.call('add')).toThrow(ConnectionError);
  });

  it('is over with what the gateway says where it is not kept', async () => {
    const gateway = new ModelGateway([2]);
    const stream = await begin(gateway);
    gateway.isGone = true;
    const call = stream.call('add');
    await expect(call.result()).rejects.toBe(NOT_FOUND);
    await expect(heard(stream)).rejects.toBe(NOT_FOUND);
    await expect(stream.end()).rejects.toBe(NOT_FOUND);
  });

  it('gives an id to one call at a time', async () => {
    const stream = await begin(new ModelGateway());
    stream.call('add', {}, { id: 'a' });
    expect(() => stream.call('add', {}, { id: 'a' })).toThrow(/under way/);
    stream.close();
  });
});
