// Only what is a list of blocks of the protocol passes as one: anything else of a tool is its data.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../contract/json.ts';
import { isContent } from './content-blocks.ts';

const text = { type: 'text', text: 'hello' };
const BLOCKS: readonly JsonObject[] = [
  text,
  { type: 'image', data: 'AA==', mimeType: 'image/png' },
  { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'file:///x', name: 'x' },
  { type: 'resource', resource: { uri: 'file:///x', text: 'x' } },
  { type: 'resource', resource: { uri: 'file:///x', blob: 'AA==' } },
];

it.each(BLOCKS)('a block of each kind is one: %j', (block) => {
  expect(isContent({ content: [block] })).toBe(true);
  expect(isContent({ content: [block], structuredContent: { a: 1 } })).toBe(true);
});

it.each([
  [{ content: [] }],
  [{ content: 'text' }],
  [{ content: [text, { type: 'text' }] }],
  [{ content: [{ type: 'constructor' }] }],
  [{ content: [{ type: 'image', data: 'AA==' }] }],
  [{ content: [{ type: 'resource', resource: { text: 'x' } }] }],
  [{ content: [text], structuredContent: [1] }],
  [{ content: [text], isError: true }],
  [[text]],
])('%j is data', (data) => {
  expect(isContent(data)).toBe(false);
});

it('any value is one or the other, and none throws', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect([true, false]).toContain(isContent(value as never));
    }),
  );
});
