// recording as a layer: what it asks to keep, what it hides, and that its own trouble fails nobody's call.
import { describe, expect, it } from 'vitest';
import {
  callOf,
  echoNext,
  functionOf,
  recordingLog,
  through,
  layerFor,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { refusalOf } from '../../core/settle.ts';
import type { RecordedCall, RecordingFacts, Recordings } from '../../ports/recordings.ts';
import { recording as plugin } from './index.ts';

type Kept = Omit<RecordedCall, 'order'>;

function kit(changes: Partial<Recordings> = {}, wants = true) {
  const kept: Kept[] = [];
  const asked: RecordingFacts[] = [];
  let dropped = 0;
  const log = recordingLog();
  const recordings = {
    enabled: true,
    idle: false,
    begin(facts: RecordingFacts) {
      asked.push(facts);
      return wants
        ? { keep: (call: Kept) => void kept.push(call), drop: () => void (dropped += 1) }
        : undefined;
    },
    seal: (text: string) => `sealed ${text.length}`,
    ...changes,
  } as Recordings;
  const extension = plugin.create({ recordings, clock: new FakeClock(), log });
  return { extension, kept, asked, log, dropped: () => dropped };
}

const SECRET_KEY = functionOf({
  inputSchema: { type: 'object', properties: { key: { type: 'string', 'x-ute-sensitive': true } } },
});

describe('recording', () => {
  it('asks about each call with what the wish may name', async () => {
    const { extension, asked } = kit();
    const call = callOf({ context: { tenantId: 'acme', sessionId: 's1' } });
    await through(extension, call, echoNext().next, {});
    expect(asked).toEqual([{ callId: 'call-1', tool: 'greet', tenantId: 'acme', sessionId: 's1' }]);
  });

  it('passes calls by that nobody wants', async () => {
    const { extension, kept } = kit({}, false);
    expect(await through(extension, callOf({ arguments: { a: 1 } }), echoNext().next, {})).toMatchObject({
      data: { a: 1 },
    });
    expect(kept).toEqual([]);
  });

  it('is in no chain where recordings are switched off', () => {
    expect(layerFor(kit({ enabled: false }).extension, functionOf(), {})).toBeUndefined();
    expect(layerFor(kit().extension, functionOf(), {})).toBeDefined();
  });

  it('seals what the schema marks, and scrubs it and secret settings from the answer', async () => {
    const { extension, kept } = kit();
    const args: JsonObject = { key: 'hunter22', url: 'https://x?key=hunter22' };
    const call = callOf({
      arguments: args,
      function: SECRET_KEY,
      sensitiveConfig: { token: { value: 'tok-12345' } },
    });
    const { next } = echoNext();
    const response = await through(
      extension,
      call,
      (inner) => next({ ...inner, arguments: { ...args, said: 'tok-12345' } }),
      {},
    );
    expect(response).toMatchObject({ data: { key: 'hunter22', said: 'tok-12345' } });
    expect(kept[0]?.arguments).toEqual({ key: 'sealed 10', url: 'https://x?key=[secret]' });
    const [outcome] = kept.map((each) => each.outcome);
    expect(outcome?.ok === true && JSON.parse(outcome.dataJson)).toEqual({
      key: '[secret]',
      url: 'https://x?key=[secret]',
      said: '[secret]',
    });
  });

  it('scrubs errors, details included', async () => {
    const { extension, kept } = kit();
    const call = callOf({ arguments: { key: 'hunter22' }, function: SECRET_KEY });
    const failure = new ToolFailure('PERMANENT', 'no such key: hunter22', { details: { at: ['hunter22'] } });
    await through(extension, call, async (inner: ToolCall) => refusalOf(inner, failure), {});
    expect(kept[0]?.outcome).toMatchObject({
      ok: false,
      error: { message: 'no such key: [secret]', details: { at: ['[secret]'] } },
    });
  });

  it('gives the answer even where it cannot be written down, and lets the call go', async () => {
    const { extension, kept, dropped, log } = kit({
      seal() {
        throw new Error('no key');
      },
    });
    const call = callOf({ arguments: { key: 'hunter22' }, function: SECRET_KEY });
    expect(await through(extension, call, echoNext().next, {})).toMatchObject({ ok: true });
    expect([kept, dropped(), log.lines[0]?.level]).toEqual([[], 1, 'warn']);
  });
});
