// Safe answers by language: the caller's, a broader one, or the one for everybody.
import { describe, expect, it } from 'vitest';
import {
  callOf,
  functionOf,
  recordingLog,
  recordingMetrics,
  through,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { JsonObject } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { refusalOf } from '../../core/settle.ts';
import { fallback as plugin } from './index.ts';

const MESSAGES = { message: 'Later.', messages: { de: 'Später.', 'pt-BR': 'Depois, {topic}.' } };
const INPUT = { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] };

/** `gateway`: what gateway.yaml says, under what the tool says itself. */
async function heard(language: string | undefined, own: JsonObject, gateway: JsonObject = {}) {
  const clock = new FakeClock();
  const fn = functionOf({
    inputSchema: INPUT,
    metadata: { readOnly: true },
    extensions: { fallback: own },
  });
  const options = plugin.optionsSchema.parse({ ...gateway, ...own });
  const extension = plugin.create({ clock, log: recordingLog(), metrics: recordingMetrics() });
  const call = callOf({
    function: fn,
    arguments: { topic: 'parking' },
    context: language === undefined ? {} : { language },
    receivedAt: clock.now(),
    deadline: clock.now() + 1_000,
  });
  const failing = async () => refusalOf(call, new ToolFailure('UNAVAILABLE', 'No.'));
  const response = await through(extension, call, failing, options);
  return response.ok ? response.data : response.error.type;
}

describe('a safe sentence', () => {
  it.each([
    ['de', 'Später.'],
    ['de-AT', 'Später.'],
    ['PT-br', 'Depois, parking.'],
    ['pt', 'Later.'],
    ['fr', 'Later.'],
    [undefined, 'Later.'],
  ])('for the language %s is %s', async (language, message) => {
    expect(await heard(language, MESSAGES)).toEqual({ message });
  });

  it('of gateway.yaml is given in the caller’s language where the tool says nothing of its own', async () => {
    expect(await heard('de', {}, MESSAGES)).toEqual({ message: 'Später.' });
    expect(await heard('de', { message: 'Own.' }, MESSAGES)).toEqual({ message: 'Own.' });
    expect(await heard('de', { data: [] }, MESSAGES)).toEqual([]);
  });
});

it.each([
  [{ message: 'a', messages: { de: '{topik}' } }, ['messages', 'de']],
  [{ data: {}, messages: { de: 'a' } }, ['messages']],
])('%j is told at load', (own, path) => {
  const fn = functionOf({ inputSchema: INPUT, metadata: { readOnly: true }, extensions: { fallback: own } });
  expect(plugin.check?.(fn, plugin.optionsSchema.parse(own))).toMatchObject([{ path }]);
});

it('a tag that is none is refused', () => {
  expect(plugin.optionsSchema.safeParse({ message: 'a', messages: { german: 'b' } }).success).toBe(false);
});
