import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../contract/json.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { readProviderCall } from './read-provider-call.ts';

const ARGS = { city: 'Bern', days: 2 };
const TEXT = JSON.stringify(ARGS);

/** Throws what is no refusal. */
function endOf(said: JsonObject) {
  try {
    return readProviderCall(said) ?? 'neither';
  } catch (error) {
    if (error instanceof ToolFailure) return 'refusal';
    throw error;
  }
}

describe('readProviderCall', () => {
  it.each<[string, JsonObject, string | undefined]>([
    [
      'Chat Completions',
      { id: 'call_1', type: 'function', function: { name: 'weather', arguments: TEXT } },
      'call_1',
    ],
    ['Mistral', { id: 'D681', function: { name: 'weather', arguments: ARGS }, index: 0 }, 'D681'],
    [
      'the Responses API',
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_2',
        name: 'weather',
        arguments: TEXT,
        status: 'completed',
      },
      'call_2',
    ],
    [
      "Chat Completions' function_call of old",
      { function_call: { name: 'weather', arguments: TEXT } },
      undefined,
    ],
    ['no more than a name and text', { name: 'weather', arguments: TEXT }, undefined],
    ['Anthropic', { type: 'tool_use', id: 'toolu_1', name: 'weather', input: ARGS }, 'toolu_1'],
    ['Gemini', { functionCall: { name: 'weather', args: ARGS }, thoughtSignature: 'c2ln' }, undefined],
    ["Gemini's Python SDK", { function_call: { id: 'g1', name: 'weather', args: ARGS } }, 'g1'],
    ['Bedrock', { toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: ARGS } }, 'tooluse_1'],
    ['LangChain', { name: 'weather', args: ARGS, id: 'call_3', type: 'tool_call' }, 'call_3'],
  ])('reads a call of %s', (_provider, said, id) => {
    const read = readProviderCall(said);
    expect(read).toMatchObject({ name: 'weather', arguments: ARGS });
    expect(read?.id).toBe(id);
    expect(read?.refusal).toBeUndefined();
  });

  it.each<[JsonObject]>([
    [{}],
    [{ tool: 'weather', arguments: {} }],
    [{ arguments: {} }],
    [{ name: 'weather' }],
  ])('%j is no call of a provider', (said) => expect(readProviderCall(said)).toBeUndefined());

  it.each([[''], [null], [undefined]])('%j are no arguments', (written) => {
    const said = { type: 'tool_use', name: 'now', ...(written !== undefined && { input: written }) };
    expect(readProviderCall(said)).toMatchObject({ arguments: {} });
  });

  it('text that is no JSON is refused with its place, under the id of the call', () => {
    const said = { id: 'call_1', function: { name: 'weather', arguments: '{"city": Bern}' } };
    const { refusal, id, name } = readProviderCall(said) ?? {};
    expect({ id, name }).toEqual({ id: 'call_1', name: 'weather' });
    expect(refusal).toMatchObject({
      type: 'VALIDATION',
      reason: 'ARGUMENTS_NOT_JSON',
      details: { position: 9, violations: [{ pointer: '/function/arguments' }] },
    });
  });

  it.each([
    ['a list', '[1]', 'MALFORMED_CALL', '/arguments'],
    ['the same key twice', '{"a":1,"a":2}', 'DUPLICATE_KEY', '/arguments/a'],
    ['a forbidden key', '{"x":{"__proto__":1}}', 'FORBIDDEN_KEY', '/arguments/x'],
  ])('text that holds %s is refused as a body would be', (_what, text, reason, pointer) => {
    const { refusal } = readProviderCall({ name: 'weather', arguments: text }) ?? {};
    expect(refusal).toMatchObject({ reason, details: { violations: [{ pointer }] } });
  });

  it('integers beyond 2^53 keep their digits', () => {
    expect(readProviderCall({ name: 'pay', arguments: '{"to":9007199254740993}' })).toMatchObject({
      arguments: { to: '9007199254740993' },
      largeIntegers: ['/to'],
    });
  });

  it.each<[JsonObject, string]>([
    [{ name: 'now', args: {}, id: 7 }, '/id'],
    [{ name: 'now', args: {}, id: 'x'.repeat(513) }, '/id'],
  ])('%# names the member that is wrong', (said, pointer) => {
    expect(() => readProviderCall(said)).toThrow(
      expect.objectContaining({ details: { violations: [expect.objectContaining({ pointer })] } }) as Error,
    );
  });

  it.each<[JsonObject, string]>([
    [{ type: 'tool_use', id: 'c1', name: 7, input: { a: 1 } }, '/name'],
    [{ functionCall: { id: 'c1', args: {} } }, '/functionCall/name'],
  ])('%# is refused under its id where it names no tool', (said, pointer) => {
    const { refusal, id, name, arguments: args } = readProviderCall(said) ?? {};
    expect({ id, name, args }).toEqual({ id: 'c1', name: undefined, args: {} });
    expect(refusal).toMatchObject({ reason: 'MALFORMED_CALL', details: { violations: [{ pointer }] } });
  });

  it('whatever a model writes ends as a call, a refusal or neither', () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const member = fc.constantFrom(
      'name',
      'id',
      'type',
      'function',
      'functionCall',
      'function_call',
      'arguments',
      'args',
      'input',
    );
    fc.assert(
      fc.property(fc.dictionary(member, fc.oneof(value, fc.dictionary(member, value))), (said) => {
        const end = endOf(said as JsonObject);
        expect(
          end === 'neither' || end === 'refusal' || typeof end.name === 'string' || end.refusal !== undefined,
        ).toBe(true);
      }),
    );
  });

  it('arguments mean the same as text and as an object', () => {
    const args = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.oneof(fc.integer(), fc.string(), fc.boolean()),
    );
    fc.assert(
      fc.property(args, (given) => {
        fc.pre(!JSON.stringify(given).includes('\\u'));
        const asText = readProviderCall({ name: 'x', arguments: JSON.stringify(given) });
        expect(asText?.arguments).toEqual(readProviderCall({ name: 'x', args: given })?.arguments);
      }),
    );
  });
});
