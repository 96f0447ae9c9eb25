// Responses on the wire: the envelope, whole, in the form that the arguments had.
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../contract/json.ts';
import type { ResponseMeta, ToolResponse } from '../../../contract/call/tool-response.ts';
import { PROTO_DIR, PROTO_FILE, PROTO_PACKAGE } from '../wire-types.ts';
import { MAX_SEND_BYTES, writeEvent, writeLastEvent, writeResponse } from './write-response.ts';

const root = new protobuf.Root();
root.resolvePath = (_origin, target) => PROTO_DIR + target;
root.loadSync(PROTO_FILE);

const META: ResponseMeta = {
  callId: 'call-1',
  tool: 'greet',
  toolVersion: '1.0.0',
  executor: 'test',
  durationMs: 3.25,
  attempts: 2,
  cached: false,
  replayed: true,
  fallback: false,
  degraded: ['concurrency'],
  registryVersion: '1.0.abcdef01',
  traceId: 'f'.repeat(32),
};

function success(data: JsonValue, intents: { type: string; text: string }[] = []): ToolResponse {
  return { ok: true, data, dataJson: JSON.stringify(data), intents, meta: META, rateLimits: [] };
}

function read(type: string, bytes: Uint8Array) {
  const message = root.lookupType(`${PROTO_PACKAGE}.${type}`);
  return message.toObject(message.decode(bytes), { defaults: true, oneofs: true, bytes: String });
}

describe('writing a response', () => {
  it('sends the data as a Value, with intents and the whole meta', async () => {
    const bytes = await writeResponse(
      success({ sum: 5 }, [{ type: 'SET_PENDING_MESSAGE', text: 'hi' }]),
      'struct',
    );
    expect(read('ExecuteResponse', bytes)).toMatchObject({
      ok: true,
      result: 'data',
      data: { structValue: { fields: { sum: { numberValue: 5 } } } },
      intents: [{ type: 'SET_PENDING_MESSAGE', fields: { fields: { text: { stringValue: 'hi' } } } }],
      meta: { schemaVersion: '1.0.0', ...META },
    });
  });

  it('sends the data as JSON text, byte for byte, where JSON was asked for', async () => {
    const data = { text: 'grüße 漢字', fraction: 0.1 };
    const message = read('ExecuteResponse', await writeResponse(success(data), 'json'));
    expect(message['result']).toBe('dataJson');
    expect(Buffer.from(String(message['dataJson']), 'base64').toString('utf8')).toBe(JSON.stringify(data));
  });

  it('tells a null result from no result', async () => {
    expect(read('ExecuteResponse', await writeResponse(success(null), 'struct'))).toMatchObject({
      ok: true,
      result: 'data',
    });
    expect(read('ExecuteResponse', await writeResponse(success(null), 'json'))).toMatchObject({
      ok: true,
      result: 'dataJson',
    });
  });

  it("sends a tool's own error inside the envelope and never its cause", async () => {
    const response: ToolResponse = {
      ok: false,
      error: {
        type: 'TRANSIENT',
        message: 'Busy.',
        retryable: true,
        partialSideEffects: true,
        origin: 'tool',
        reason: 'BUSY',
        retryAfterMs: 10.2,
        details: { queue: 3 },
      },
      meta: META,
      rateLimits: [],
      cause: new Error('secret cause'),
    };
    const bytes = await writeResponse(response, 'struct');
    expect(read('ExecuteResponse', bytes)).toMatchObject({
      ok: false,
      error: {
        type: 'TRANSIENT',
        retryable: true,
        partialSideEffects: true,
        origin: 'tool',
        reason: 'BUSY',
        retryAfterMs: 11,
      },
    });
    expect(Buffer.from(bytes).includes('secret cause')).toBe(false);
  });

  it('refuses, with a way out, a result that does not fit into a Value', async () => {
    let deep: JsonValue = 1;
    for (let level = 0; level < 100; level += 1) deep = [deep];
    await expect(writeResponse(success(deep), 'struct')).rejects.toThrow(/arguments_json/);
    expect(read('ExecuteResponse', await writeResponse(success(deep), 'json'))).toMatchObject({ ok: true });
  });

  it('refuses a result larger than one message may be', async () => {
    const data = 'x'.repeat(MAX_SEND_BYTES);
    await expect(writeResponse(success(data), 'json')).rejects.toThrow(
      expect.objectContaining({ type: 'OUTPUT_TOO_LARGE', partialSideEffects: true }),
    );
  });

  it('writes events and the last one, the response', async () => {
    const events = [
      writeEvent({ kind: 'progress', fraction: 0.5, message: 'half' }, 'struct'),
      writeEvent({ kind: 'log', level: 'warn', message: 'careful' }, 'struct'),
      writeEvent({ kind: 'partial', data: [1] }, 'struct'),
      writeEvent({ kind: 'partial', data: [1] }, 'json'),
      await writeLastEvent(success(1), 'struct'),
    ];
    expect(events.map((bytes) => read('ExecuteStreamResponse', bytes))).toMatchObject([
      { event: 'progress', progress: { fraction: 0.5, message: 'half' } },
      { event: 'log', log: { level: 'warn', message: 'careful' } },
      {
        event: 'partial',
        partial: { result: 'data', data: { listValue: { values: [{ numberValue: 1 }] } } },
      },
      { event: 'partial', partial: { result: 'dataJson', dataJson: Buffer.from('[1]').toString('base64') } },
      { event: 'response', response: { ok: true, data: { numberValue: 1 } } },
    ]);
  });
});
