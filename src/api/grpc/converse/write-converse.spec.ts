// What is said in Converse: each message in its own field with its number, results as the text that they are, and never more than can be sent.
import * as fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, it } from 'vitest';
import { callOf } from '../../../../test/helpers/call-kit.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { acceptedOf } from '../../../core/settle.ts';
import type { ConnectionMessage, StreamMessage } from '../../stream/messages/server-messages.ts';
import { MAX_SEND_BYTES } from '../execute/write-response.ts';
import { PROTO_DIR, PROTO_FILE, PROTO_PACKAGE } from '../wire-types.ts';
import { writeConverse } from './write-converse.ts';

const root = new protobuf.Root();
root.resolvePath = (_origin, target) => PROTO_DIR + target;
root.loadSync(PROTO_FILE);
const ConverseResponse = root.lookupType(`${PROTO_PACKAGE}.ConverseResponse`);

interface Read {
  readonly seq: number;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** As a client reads it. */
const read = (bytes: Uint8Array) =>
  ConverseResponse.toObject(ConverseResponse.decode(bytes), {
    defaults: true,
    oneofs: true,
    longs: Number,
    bytes: Buffer,
  }) as Read;
const written = (message: StreamMessage | ConnectionMessage, seq = 0) => read(writeConverse(message, seq));

const { meta } = acceptedOf(callOf(), { at: '/v1/calls/1' });
const resultOf = (dataJson: string): StreamMessage => ({
  type: 'tool_result',
  id: 'c1',
  toolName: 'greet',
  response: { ok: true, dataJson, intents: [{ type: 'END_VOICE_SESSION' }], meta },
});
const failure = new ToolFailure('VALIDATION', 'It is wrong.', { details: { field: 'a' } });

it.each([
  [{ type: 'text_delta', text: 'hä' }, 'textDelta', { text: 'hä' }],
  [{ type: 'tool_started', id: 'c', toolName: 'add' }, 'toolStarted', { id: 'c', toolName: 'add' }],
  [
    { type: 'tool_progress', id: 'c', fraction: 0.5 },
    'toolSaid',
    { id: 'c', progress: expect.objectContaining({ fraction: 0.5 }) },
  ],
  [
    { type: 'tool_log', id: 'c', level: 'warn', message: 'm' },
    'toolSaid',
    { id: 'c', log: { level: 'warn', message: 'm' } },
  ],
  [{ type: 'turn_ended', turnId: 't' }, 'turnEnded', { turnId: 't' }],
  [{ type: 'ended', sessionEnded: true }, 'ended', { sessionEnded: true }],
  [{ type: 'pong', nonce: 'n' }, 'pong', { nonce: 'n' }],
  [{ type: 'reconnect' }, 'reconnect', {}],
  [
    { type: 'error', failure },
    'refused',
    { error: expect.objectContaining({ type: 'VALIDATION', message: 'It is wrong.' }) },
  ],
] as const)('%j is said in its own field, with its number', (message, field, said) => {
  const { seq, message: which, [field]: content } = written(message, 7);
  expect([seq, which]).toEqual([7, field]);
  expect(content).toMatchObject(said);
});

it('a result and a part of one go out as the JSON text that they are, whatever stands in it', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary', maxDepth: 2 }), fc.nat(), (dataJson, seq) => {
      const { toolResult, seq: numbered } = written(resultOf(dataJson), seq);
      const { ok, resultJson, intents } = toolResult as {
        ok: boolean;
        resultJson: Buffer;
        intents: object[];
      };
      expect([numbered, ok, resultJson.toString(), intents.length]).toEqual([seq, true, dataJson, 1]);
      const { toolSaid } = written({ type: 'tool_partial', id: 'c1', dataJson }, seq);
      expect(toolSaid).toMatchObject({ id: 'c1', partial: { dataJson: Buffer.from(dataJson) } });
    }),
    { numRuns: 40 },
  );
});

it('a result that no message can hold is told as too large, under its number and its call: the stream goes on', () => {
  const bytes = writeConverse(resultOf(JSON.stringify('x'.repeat(MAX_SEND_BYTES))), 9);
  expect(bytes.length).toBeLessThan(1_024);
  expect(read(bytes)).toMatchObject({
    seq: 9,
    toolResult: {
      id: 'c1',
      toolName: 'greet',
      ok: false,
      error: { type: 'OUTPUT_TOO_LARGE', retryable: false, partialSideEffects: true },
    },
  });
});

it('a refusal of a call says what the call ended in', () => {
  const error = {
    type: 'RATE_LIMIT',
    reason: 'RATE_LIMIT',
    message: 'Too many.',
    retryable: true,
    retryAfterMs: 250,
    origin: 'gateway',
    partialSideEffects: false,
    details: {},
  } as const;
  const { toolResult } = written({
    type: 'tool_result',
    id: 'c2',
    toolName: 'greet',
    response: { ok: false, error, meta },
  });
  expect(toolResult).toMatchObject({
    ok: false,
    error: { type: 'RATE_LIMIT', reason: 'RATE_LIMIT', retryable: true },
  });
});
