// ToolStream as a state machine: whatever a client says, whenever calls end and however often the connection is lost, it has
// everything once and in the order of what it said.
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolRequest } from '../../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import type { Principal } from '../../../contract/call/principal.ts';
import { sessionOf } from '../../../../test/helpers/session-kit.ts';
import { metaOf } from '../../../contract/call/make-response.ts';
import { callOf } from '../../../../test/helpers/call-kit.ts';
import type { Inbound } from '../messages/read-message.ts';
import type { StreamMessage } from '../messages/server-messages.ts';
import type { Numbered } from './outbox.ts';
import type { Speaker, StreamState } from './stream-state.ts';
import { MOST_CALLS } from './stream-calls.ts';
import { ToolStream } from './tool-stream.ts';

const principal: Principal = {
  id: 'key00001',
  tenantId: 'acme',
  agents: ['*'],
  roles: [],
  permissions: new Set(['tools:call']),
};
const SPEAKER: Speaker = { credential: { kind: 'bearer', token: 'k' }, principal };
const STATE: StreamState = {
  id: '01a1fdea-b5f6-7000-b37d-6e9df3cc0263',
  tokenHash: '0'.repeat(64),
  principalId: principal.id,
  tenantId: 'acme',
  sessionId: 'ses_01a1fdea-b5f6-7000-b37d-6e9df3cc0263',
  isDeclared: true,
  turn: 1,
  isTurnNew: true,
  isTurnOver: false,
  received: 0,
  named: 0,
  next: 1,
  kept: [],
};
const META = metaOf(callOf());

/** Calls that end when the test says so. */
class HeldCalls {
  readonly running: { readonly request: ToolRequest; readonly end: (response: ToolResponse) => void }[] = [];
  readonly made: ToolRequest[] = [];

  execute(request: ToolRequest): Promise<ToolResponse> {
    this.made.push(request);
    return new Promise((resolve) => {
      const running = {
        request,
        end: (response: ToolResponse) => {
          this.running.splice(this.running.indexOf(running), 1);
          resolve(response);
        },
      };
      this.running.push(running);
      request.whenGone?.(() => running.end(refused('CANCELLED')));
    });
  }

  end(index: number): void {
    const { length } = this.running;
    this.running[index % Math.max(1, length)]?.end(answered());
  }
}

function answered(): ToolResponse {
  return { ok: true, data: 1, dataJson: '1', intents: [], meta: META, rateLimits: [] };
}

function refused(type: 'CANCELLED'): ToolResponse {
  const error = {
    type,
    reason: type,
    message: type,
    origin: 'caller' as const,
    retryable: false,
    partialSideEffects: false,
    retryAfterMs: null,
    details: {},
  };
  return { ok: false, error, meta: META, rateLimits: [] };
}

class Reader {
  readonly got: Numbered<StreamMessage>[] = [];

  send(numbered: Numbered<StreamMessage>): boolean {
    this.got.push(numbered);
    return true;
  }
}

function setUp(state: StreamState = STATE) {
  const calls = new HeldCalls();
  let turn = state.turn;
  const view = () => ({ session: sessionOf({ turn }), state: 'active' as const, budgets: [] });
  const ends: boolean[] = [];
  const stream = new ToolStream(state, SPEAKER, {
    caller: calls,
    sessions: {
      get: async () => view(),
      nextTurn: async () => {
        turn += 1;
        return view();
      },
    },
    counts: { said: () => undefined, leftOut: () => undefined },
    end: async (wanted) => {
      ends.push(wanted);
      return wanted;
    },
    over: () => undefined,
  });
  const reader = new Reader();
  stream.attach(reader, SPEAKER, state.next - 1);
  return { calls, stream, reader, ends };
}

const text = (said: string): Inbound => ({ kind: 'message', message: { type: 'text_delta', text: said } });
const call = (id: string): Inbound => ({ kind: 'call', call: { tool_name: 'echo', id }, largeIntegers: [] });
const message = (said: Extract<Inbound, { kind: 'message' }>['message']): Inbound => ({
  kind: 'message',
  message: said,
});
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Model {
  /** What has to be heard, in its order; calls by their id. */
  readonly expected: string[];
  readonly open: Set<string>;
  said: number;
  turn: number;
  isTurnNew: boolean;
  isTurnOver: boolean;
}

interface Real {
  readonly calls: HeldCalls;
  readonly stream: ToolStream;
  reader: Reader;
  readonly heard: Numbered<StreamMessage>[];
}

type Step = fc.AsyncCommand<Model, Real>;

const shown = ({ message: said }: Numbered<StreamMessage>): string => {
  if (said.type === 'text_delta') return said.text;
  if (said.type === 'turn_started' || said.type === 'turn_ended') return `${said.type} ${said.turnId}`;
  return 'id' in said ? `${said.type} ${said.id}` : said.type;
};

function step(name: string, run: (model: Model, real: Real) => Promise<void> | void): Step {
  return {
    check: () => true,
    async run(model, real) {
      await run(model, real);
      await settled();
      const numbers = [...real.heard, ...real.reader.got].map(({ seq }) => seq);
      assert.deepEqual(
        numbers,
        numbers.map((_seq, index) => index + 1),
      );
      const heard = [...real.heard, ...real.reader.got].map(shown);
      assert.deepEqual(heard, model.expected.slice(0, heard.length));
      assert.equal(real.calls.running.length, real.stream.openCalls.length);
      assert.ok(real.stream.openCalls.length <= MOST_CALLS + 1);
    },
    toString: () => name,
  };
}

const STEPS = [
  fc.constant(
    step('text', (model, { stream }) => {
      model.said += 1;
      model.expected.push(`text ${model.said}`);
      void stream.take(text(`text ${model.said}`));
    }),
  ),
  fc.constant(
    step('call', (model, { stream, calls }) => {
      if (stream.openCalls.length >= MOST_CALLS) return;
      model.said += 1;
      const id = `c${model.said}`;
      model.expected.push(`tool_started ${id}`, `tool_result ${id}`);
      void stream.take(call(id));
      model.isTurnNew = false;
      const made = calls.made.at(-1);
      assert.equal(made?.refusal?.reason, model.isTurnOver ? 'TURN_OVER' : undefined);
      if (!model.isTurnOver) assert.equal(made?.context.turnId, String(model.turn));
    }),
  ),
  fc.nat(100).map((index) => step(`end of ${index}`, (_model, { calls }) => calls.end(index))),
  fc.nat(100).map((index) =>
    step(`cancel of ${index}`, (_model, { stream }) => {
      const open = stream.openCalls;
      const id = open[index % Math.max(1, open.length)];
      if (id !== undefined) void stream.take(message({ type: 'tool_cancel', id }));
    }),
  ),
  fc.constant(
    step('turn_start', async (model, { stream }) => {
      model.turn += model.isTurnNew ? 0 : 1;
      model.isTurnNew = false;
      model.isTurnOver = false;
      model.expected.push(`turn_started ${model.turn}`);
      await stream.take(message({ type: 'turn_start' }));
    }),
  ),
  fc.boolean().map((cancel) =>
    step(`turn_end ${cancel}`, (model, { stream }) => {
      model.isTurnNew = false;
      model.isTurnOver = true;
      model.expected.push(`turn_ended ${model.turn}`);
      void stream.take(message({ type: 'turn_end', cancel }));
    }),
  ),
  fc.nat(3).map((unread) =>
    step(`lost with ${unread} unread`, (_model, real) => {
      const { got } = real.reader;
      real.heard.push(...got.slice(0, Math.max(0, got.length - unread)));
      real.stream.detach();
      real.reader = new Reader();
      const seq = real.heard.at(-1)?.seq ?? 0;
      assert.ok(real.stream.keeps(seq));
      real.stream.attach(real.reader, SPEAKER, seq);
    }),
  ),
];

describe('a stream', () => {
  it('says everything once and in order, whenever calls end and connections are lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(STEPS, { maxCommands: 60 }), async (commands) => {
        const { calls, stream, reader } = setUp();
        const model = {
          expected: [],
          open: new Set<string>(),
          said: 0,
          turn: 1,
          isTurnNew: true,
          isTurnOver: false,
        };
        const real: Real = { calls, stream, reader, heard: [] };
        await fc.asyncModelRun(() => ({ model, real }), commands);
        while (calls.running.length > 0) calls.end(0);
        await settled();
        expect([...real.heard, ...real.reader.got].map(shown)).toEqual(model.expected);
        expect(stream.isFull).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('goes on elsewhere as if it had never moved', async () => {
    const first = setUp();
    void first.stream.take(text('one'));
    void first.stream.take(call('a'));
    first.calls.end(0);
    await first.stream.idle();
    const state = JSON.parse(JSON.stringify(first.stream.state)) as StreamState;
    const second = setUp(state);
    void second.stream.take(text('two'));
    second.stream.detach();
    const reader = new Reader();
    second.stream.attach(reader, SPEAKER, 1);
    expect(reader.got.map((each) => `${each.seq} ${shown(each)}`)).toEqual([
      '2 tool_started a',
      '3 tool_result a',
      '4 two',
    ]);
    expect(second.stream.received).toBe(3);
  });

  it('has a bounded number of calls under way: more are refused where calls are', () => {
    const { calls, stream } = setUp();
    for (let count = 0; count < MOST_CALLS + 1; count += 1) void stream.take(call(`c${count}`));
    expect(calls.made.at(-1)?.refusal).toMatchObject({
      type: 'CONCURRENCY_LIMIT',
      reason: 'STREAM_CALLS_FULL',
    });
    expect(calls.made.at(-2)?.refusal).toBeUndefined();
  });

  it('is full where much waits behind a call, and is again ready when the call has ended', async () => {
    const { calls, stream } = setUp();
    void stream.take(call('a'));
    for (let count = 0; count < 20; count += 1) void stream.take(text('x'.repeat(16_000)));
    expect(stream.isFull).toBe(true);
    const room = stream.room();
    calls.end(0);
    await room;
    expect(stream.isFull).toBe(false);
  });

  it('gives up a call whose partial results come faster than they are read', async () => {
    const { calls, stream } = setUp();
    const slow = { got: [] as Numbered<StreamMessage>[], send: () => false };
    stream.attach(slow, SPEAKER, 0);
    void stream.take(call('a'));
    const { request } = calls.running[0] as { request: ToolRequest };
    for (let count = 0; count < 1_000; count += 1)
      request.emit?.({ kind: 'partial', data: 'x'.repeat(30_000) });
    await stream.idle();
    const reader = new Reader();
    stream.attach(reader, SPEAKER, 0);
    expect(reader.got.at(-1)?.message).toMatchObject({
      type: 'tool_result',
      response: { ok: false, error: { reason: 'READER_TOO_SLOW', partialSideEffects: true } },
    });
    expect(reader.got.length).toBeLessThan(200);
  });

  it('an id of a call that is under way is not given to another', () => {
    const { calls, stream, reader } = setUp();
    void stream.take(call('a'));
    void stream.take(call('a'));
    expect(calls.made).toHaveLength(1);
    expect(reader.got.at(-1)?.message).toMatchObject({ type: 'error', failure: { type: 'VALIDATION' } });
  });

  it('numbers calls that come without an id, and never with one that is in use', () => {
    const { stream } = setUp();
    void stream.take(call('call_1'));
    void stream.take({ kind: 'call', call: { tool_name: 'echo' }, largeIntegers: [] });
    expect(stream.openCalls).toEqual(['call_1', 'call_2']);
  });

  it('takes nothing after its end, and ends the session that it declared', async () => {
    const { calls, stream, reader, ends } = setUp();
    void stream.take(call('a'));
    void stream.take(message({ type: 'end' }));
    void stream.take(text('late'));
    calls.end(0);
    await settled();
    await settled();
    expect(reader.got.map(shown)).toEqual(['tool_started a', 'tool_result a', 'ended']);
    expect(ends).toEqual([true]);
  });
});
