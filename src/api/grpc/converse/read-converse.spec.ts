// What is said in Converse is what would be said over a WebSocket, or is told what is wrong with it: reading never throws.
import * as fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { readMessage, type Inbound } from '../../stream/messages/read-message.ts';
import {
  PROTO_DIR,
  PROTO_FILE,
  PROTO_PACKAGE,
  REQUESTS,
  UNREADABLE,
  type ConverseMessage,
} from '../wire-types.ts';
import { readConverse } from './read-converse.ts';

const { Converse: decode } = REQUESTS;

/** Of protobuf's types: a message as it comes out of the decoder has what was said as its own properties. */
const said = (message: object) =>
  readConverse(Object.assign(Object.create(null) as ConverseMessage, message));

const wrongIn = (read: Inbound) =>
  (read.kind === 'malformed' ? read.failure : read.kind === 'call' ? read.refusal : undefined)?.reason;
const argumentsIn = (read: Inbound) =>
  read.kind === 'call'
    ? JSON.stringify([read.call.arguments ?? null, read.largeIntegers])
    : JSON.stringify([null, []]);

const root = new protobuf.Root();
root.resolvePath = (_origin, target) => PROTO_DIR + target;
root.loadSync(PROTO_FILE);
const ConverseType = root.lookupType(`${PROTO_PACKAGE}.ConverseRequest`);

/** Through the wire, as another implementation writes it. */
const sent = (message: object) =>
  readConverse(decode(ConverseType.encode(ConverseType.fromObject(message)).finish()));

describe('a message of Converse', () => {
  it.each([
    [{ textDelta: { text: 'a' } }, { type: 'text_delta', text: 'a' }],
    [{ toolCancel: { id: 'c' } }, { type: 'tool_cancel', id: 'c' }],
    [{ turnStart: {} }, { type: 'turn_start' }],
    [{ turnEnd: { cancel: true } }, { type: 'turn_end', cancel: true }],
    [{ ping: { nonce: '' } }, { type: 'ping' }],
    [{ end: {} }, { type: 'end' }],
    [{ end: { endSession: false } }, { type: 'end', end_session: false }],
    [{ resume: { resumeToken: 't', lastSeq: 3 } }, { type: 'resume', resume_token: 't', last_seq: 3 }],
  ])('%j says what %j says over a WebSocket', (message, json) => {
    expect(said(message)).toEqual(readMessage(JSON.stringify(json)));
  });

  it('gives a call its arguments as they are over a WebSocket, whatever JSON they are', () => {
    const anyJson = fc.jsonValue({ stringUnit: 'binary' });
    fc.assert(
      fc.property(anyJson, fc.stringMatching(/^[a-z]{1,20}$/), (value, toolName) => {
        const json = JSON.stringify(value);
        const call = { toolName, argumentsJson: Buffer.from(json), id: '', timeoutMs: 0 };
        const over = readMessage(`{"type":"tool_call","tool_name":"${toolName}","arguments":${json}}`);
        const read = said({ toolCall: call });
        // What no reader takes is no message there, and a call that is refused here.
        expect(read).toMatchObject({ kind: 'call', call: { tool_name: toolName } });
        expect(wrongIn(read)).toBe(wrongIn(over));
        expect(argumentsIn(read)).toBe(argumentsIn(over));
      }),
    );
  });

  it('whose arguments are no JSON is a call that is refused, with its name and its id', () => {
    const call = { toolName: 'add', argumentsJson: Buffer.from('{"a":'), id: 'c1', timeoutMs: 0 };
    expect(said({ toolCall: call })).toMatchObject({
      kind: 'call',
      call: { tool_name: 'add', id: 'c1' },
      refusal: { type: 'VALIDATION' },
    });
    const bytes = { ...call, argumentsJson: Buffer.from([0x22, 0xff, 0x22]) };
    expect(said({ toolCall: bytes })).toMatchObject({ kind: 'call', refusal: { type: 'VALIDATION' } });
  });

  it.each([
    [{ start: { agentId: 'a\0b' } }, { type: 'start', agent_id: 'a\0b' }],
    [{ start: { userId: 'a\0b' } }, { type: 'start', user_id: 'a\0b' }],
    [{ start: { tenantId: 'a\0b' } }, { type: 'start', tenant_id: 'a\0b' }],
    [{ textDelta: { text: 'a\0b' } }, { type: 'text_delta', text: 'a\0b' }],
    [
      { toolCall: { toolName: 'add', context: { cursor: 'a\0b' } } },
      { type: 'tool_call', tool_name: 'add', context: { cursor: 'a\0b' } },
    ],
  ])('%j, with NUL, is refused as it is over a WebSocket', (message, json) => {
    const failureOf = (read: Inbound) => (read.kind === 'malformed' ? read.failure : undefined);
    const over = failureOf(readMessage(JSON.stringify(json)));
    const { type, reason, details } = failureOf(sent(message)) ?? {};
    expect({ type, reason, details }).toEqual({
      type: 'VALIDATION',
      reason: 'NUL',
      details: over?.details,
    });
  });

  it('that says nothing, or is none, is malformed', () => {
    for (const nothing of [said({}), readConverse(UNREADABLE)])
      expect(nothing).toMatchObject({ kind: 'malformed', failure: { type: 'VALIDATION' } });
  });

  it('of any bytes is read or refused, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(['message', 'call', 'malformed']).toContain(readConverse(decode(bytes)).kind);
      }),
      { numRuns: 500 },
    );
  });
});
