// No client is asked for headers that nobody compares with the arguments.
import { expect, it } from 'vitest';
import { withoutParameterHeaders } from './parameter-headers.ts';

it('the keyword is left out wherever it stands, and nothing else', () => {
  const region = { type: 'string', 'x-mcp-header': 'Region' };
  const nested = { type: 'object', properties: { region } };
  const plain = { type: 'string' };
  expect(
    withoutParameterHeaders({
      type: 'object',
      properties: { region, nested },
      $defs: { list: { type: 'array', items: region } },
      required: ['region'],
    }),
  ).toEqual({
    type: 'object',
    properties: { region: plain, nested: { type: 'object', properties: { region: plain } } },
    $defs: { list: { type: 'array', items: plain } },
    required: ['region'],
  });
});

it('a property of that name stays', () => {
  const schema = { type: 'object', properties: { 'x-mcp-header': { type: 'string' } } };
  expect(withoutParameterHeaders(schema)).toEqual(schema);
});

it('a schema without it is the same object', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  expect(withoutParameterHeaders(schema)).toBe(schema);
});
