// What is taken as the answer to a call, and what is not.
import { isSpecType } from '@modelcontextprotocol/client';
import { describe, expect, it, vi } from 'vitest';
import { readResult } from './read-result.ts';

const read = (value: unknown) => readResult(value, isSpecType.ContentBlock);

describe('the answer to a call', () => {
  it('is its blocks, its structured content and whether it is an error, as they were sent', () => {
    const link = { type: 'resource_link', uri: 'file:///a', name: 'a', vendor: { any: 'thing' } };
    const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
    const content = [{ type: 'text', text: 'hi', annotations: { priority: 1 } }, image, link];
    expect(read({ content, structuredContent: { a: 1 }, isError: true, _meta: {} })).toEqual({
      content,
      structuredContent: { a: 1 },
      isError: true,
    });
  });

  it('takes plain text without a look into the schemas', () => {
    const isBlock = vi.fn<() => boolean>(() => false);
    expect(readResult({ content: [{ type: 'text', text: 'hi' }] }, isBlock)).toMatchObject({
      isError: false,
    });
    expect(isBlock).not.toHaveBeenCalled();
  });

  it.each([
    ['nothing', undefined],
    ['a list', []],
    ['content that is no list', { content: 'text' }],
    ['a block that is no object', { content: [7] }],
    ['a block of no type', { content: [{ text: 'x' }] }],
    ['a block of an unknown type', { content: [{ type: 'exploit' }] }],
    ['a text that is none', { content: [{ type: 'text', text: 7 }] }],
    ['a text with bad annotations', { content: [{ type: 'text', text: 'x', annotations: 7 }] }],
    ['an image that is no base64', { content: [{ type: 'image', data: '*', mimeType: 'image/png' }] }],
    ['isError that is a word', { content: [], isError: 'yes' }],
  ])('is not %s', (_, value) => {
    expect(read(value)).toEqual(expect.any(String));
  });

  it('may come without content, but not with what belongs to another request', () => {
    expect(read({ structuredContent: [1] })).toEqual({ content: [], structuredContent: [1], isError: false });
    expect(read({})).toEqual({ content: [], isError: false });
    expect(read({ tools: [] })).toBe('there is no content');
  });
});
