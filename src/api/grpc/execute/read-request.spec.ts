// Reading a request: what is said arrives, and what cannot be read becomes a refusal for the core, credential and all.
import { Metadata } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../contract/json.ts';
import { formOf, readRequest } from './read-request.ts';
import { encodeStruct } from '../struct/struct-codec.ts';
import { PROTO_DIR, PROTO_FILE, PROTO_PACKAGE, REQUESTS, UNREADABLE } from '../wire-types.ts';

/** A connection without TLS. */
const PLAIN = { getAuthContext: () => ({}), getPeer: () => '127.0.0.1:5000' };

const root = new protobuf.Root();
root.resolvePath = (_origin, target) => PROTO_DIR + target;
root.loadSync(PROTO_FILE);
const RequestType = root.lookupType(`${PROTO_PACKAGE}.ExecuteRequest`);

/** Through the wire, as another implementation writes it. */
function message(fields: object) {
  return REQUESTS.Execute(RequestType.encode(RequestType.fromObject(fields)).finish());
}

function metadataOf(entries: Record<string, string>): Metadata {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(entries)) metadata.set(key, value);
  return metadata;
}

function read(fields: object, entries: Record<string, string> = {}) {
  return readRequest(message({ tool: 'greet', ...fields }), metadataOf(entries), {}, PLAIN);
}

const json = (value: JsonValue) => ({ argumentsJson: Buffer.from(JSON.stringify(value)) });

/** A Struct field with bytes that no JSON value gives. */
function withArguments(bytes: Uint8Array) {
  const writer = protobuf.Writer.create().uint32(0x0a).string('greet').uint32(0x12).bytes(bytes);
  return readRequest(REQUESTS.Execute(writer.finish()), metadataOf({ 'x-api-key': 'k' }), {}, PLAIN);
}

describe('reading a request', () => {
  it('reads the tool, both forms of arguments, and none', () => {
    const fields = {
      fields: { a: { numberValue: 2 }, list: { listValue: { values: [{ boolValue: true }] } } },
    };
    expect(read({ arguments: fields })).toMatchObject({
      tool: 'greet',
      arguments: { a: 2, list: [true] },
      door: 'grpc',
    });
    expect(read(json({ a: 2 })).arguments).toEqual({ a: 2 });
    expect(read({}).arguments).toEqual({});
    expect(read({ arguments: {} }).refusal).toBeUndefined();
  });

  it('answers in the form of the arguments', () => {
    expect(formOf(message({ arguments: {} }))).toBe('struct');
    expect(formOf(message(json({})))).toBe('json');
    expect(formOf(message({}))).toBe('struct');
    expect(formOf(UNREADABLE)).toBe('struct');
  });

  it('reads every field of the context', () => {
    const context = {
      sessionId: 's',
      agentId: 'a',
      userId: 'u',
      tenantId: 't',
      turnId: 'turn',
      idempotencyKey: 'idem',
      confirmationToken: 'conf',
      traceparent: '00-trace',
      tracestate: 'x=y',
    };
    expect(read({ context: { ...context, mode: 1 } }).context).toEqual({ ...context, mode: 'voice' });
    expect(read({ context: {} }).context).toEqual({});
  });

  it('takes trace context and idempotency key from the metadata', () => {
    const entries = { traceparent: '00-meta', tracestate: 'm=1', 'idempotency-key': 'from-metadata' };
    expect(read({ context: { userId: 'u' } }, entries).context).toEqual({
      userId: 'u',
      traceparent: '00-meta',
      tracestate: 'm=1',
      idempotencyKey: 'from-metadata',
    });
  });

  it('finds the credential in either place, with where it came from, and takes another scheme for a wrong one', () => {
    const credential = (entries: Record<string, string>) => read({}, entries).credential;
    const from = { peer: '127.0.0.1' };
    const abc = { kind: 'bearer', token: 'abc', from };
    expect(credential({ authorization: 'Bearer abc' })).toEqual(abc);
    expect(credential({ authorization: 'bearer  abc ' })).toEqual(abc);
    expect(credential({ 'x-api-key': 'abc' })).toEqual(abc);
    expect(credential({ authorization: 'Basic abc' })).toEqual({ kind: 'bearer', token: '', from });
    expect(credential({ authorization: 'Basic abc', 'x-api-key': 'abc' })).toEqual({ kind: 'several', from });
    expect(credential({ authorization: 'Bearer abc', 'x-api-key': 'abc' })).toEqual(abc);
    expect(credential({ 'x-api-key': 'abc', 'x-forwarded-for': '203.0.113.9' })).toEqual({
      ...abc,
      from: { ...from, forwardedFor: '203.0.113.9' },
    });
    expect(credential({})).toEqual({ kind: 'none' });
  });

  it('refuses an unknown mode by name', () => {
    expect(read({ context: { mode: 7 } }).refusal).toMatchObject({
      type: 'VALIDATION',
      details: { violations: [{ pointer: '/context/mode' }] },
    });
  });

  it.each(['sessionId', 'agentId', 'userId', 'tenantId', 'turnId', 'idempotencyKey', 'toolset'])(
    'refuses NUL in %s of the context, as REST does',
    (field) => {
      const pointer = `/context/${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
      expect(read({ context: { [field]: 'a\0b' } }).refusal).toMatchObject({
        type: 'VALIDATION',
        reason: 'NUL',
        details: { violations: [{ pointer }] },
      });
    },
  );

  it.each([
    ['text that is not JSON', '{"a":'],
    ['a repeated key', '{"a":1,"a":2}'],
    ['a __proto__ key', '{"__proto__":{"polluted":true}}'],
    ['a value that is no object', '[1]'],
    ['nesting without end', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`],
  ])('refuses JSON arguments with %s as VALIDATION', (_what, text) => {
    const request = read({ argumentsJson: Buffer.from(text) }, { 'x-api-key': 'k' });
    expect(request.refusal).toMatchObject({ type: 'VALIDATION', origin: 'caller' });
    expect(request).toMatchObject({ tool: 'greet', arguments: {}, credential: { token: 'k' } });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('refuses JSON arguments that are not UTF-8', () => {
    const argumentsJson = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    expect(read({ argumentsJson }).refusal).toMatchObject({ type: 'VALIDATION' });
  });

  it.each([
    ['NaN', encodeStruct({ a: Number.NaN })],
    ['Infinity', encodeStruct({ a: [Number.POSITIVE_INFINITY] })],
    ['a __proto__ key', encodeStruct(JSON.parse('{"__proto__":{"polluted":true}}') as Record<string, never>)],
    ['bytes that are no Struct', Uint8Array.of(0x0a, 0x7f, 0x01)],
  ])('refuses a Struct with %s as VALIDATION', (_what, bytes) => {
    const request = withArguments(bytes);
    expect(request.refusal).toMatchObject({ type: 'VALIDATION', origin: 'caller' });
    expect(request.refusal?.details['violations']).toMatchObject([
      { pointer: expect.stringMatching(/^\/arguments/) },
    ]);
    expect(request).toMatchObject({ tool: 'greet', arguments: {}, credential: { token: 'k' } });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('refuses both forms of arguments at once', () => {
    const both = protobuf.Writer.create()
      .uint32(0x12)
      .bytes(encodeStruct({}))
      .uint32(0x1a)
      .bytes(Buffer.from('{}'));
    const request = readRequest(REQUESTS.Execute(both.finish()), new Metadata(), {}, PLAIN);
    expect(request.refusal).toMatchObject({ type: 'VALIDATION', reason: 'MALFORMED_CALL' });
  });

  it('hands bytes that are no message to the core as a refusal too', () => {
    const unreadable = REQUESTS.Execute(Uint8Array.of(0x0a, 0xff));
    expect(unreadable).toBe(UNREADABLE);
    const request = readRequest(unreadable, metadataOf({ 'x-api-key': 'k' }), {}, PLAIN);
    expect(request).toMatchObject({ tool: '', credential: { token: 'k' }, refusal: { type: 'VALIDATION' } });
  });

  it('refuses metadata above 8 kB', () => {
    expect(read({}, { filler: 'x'.repeat(8000) }).refusal).toBeUndefined();
    expect(read({}, { filler: 'x'.repeat(8200) }).refusal).toMatchObject({
      type: 'PAYLOAD_TOO_LARGE',
      reason: 'METADATA_TOO_LARGE',
    });
  });
});
