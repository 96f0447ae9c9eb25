// Clients are asked for headers in the ways that the protocol has, and in no other: they would not take the tool.
import { expect, it } from 'vitest';
import type { JsonSchema } from '../../contract/json.ts';
import { parameterHeaders, withoutParameterHeaders } from './parameter-headers.ts';

const region = { type: 'string', 'x-mcp-header': 'Region' };
const plain = { type: 'string' };

it('those of properties, also of nested ones, are found with their path', () => {
  const limits = { type: 'object', properties: { most: { type: 'integer', 'x-mcp-header': 'Most' } } };
  expect(parameterHeaders({ type: 'object', properties: { region, limits, plain } })).toEqual([
    { header: 'mcp-param-region', path: ['region'], type: 'string' },
    { header: 'mcp-param-most', path: ['limits', 'most'], type: 'integer' },
  ]);
});

it.each<[string, JsonSchema]>([
  ['a name that no header can have', { properties: { a: { type: 'string', 'x-mcp-header': 'a b' } } }],
  ['no name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
  ['a list', { properties: { a: { type: 'array', 'x-mcp-header': 'A' } } }],
  ['a number, which has many spellings', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
  ['no type', { properties: { a: { 'x-mcp-header': 'A' } } }],
  ['two of one name', { properties: { a: region, b: { type: 'string', 'x-mcp-header': 'REGION' } } }],
  ['the root', { type: 'string', 'x-mcp-header': 'Root' }],
  ['an item', { properties: { a: { type: 'array', items: region }, region } }],
  ['a choice', { properties: { region }, anyOf: [{ properties: { a: region } }] }],
  ['a definition', { properties: { a: { $ref: '#/$defs/region' } }, $defs: { region } }],
])('%s asks for none', (_case, schema) => {
  expect(parameterHeaders(schema)).toEqual([]);
});

it('the keyword is left out wherever it stands, and nothing else', () => {
  const nested = { type: 'object', properties: { region } };
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

it('a property of that name stays, and is no keyword', () => {
  const schema = { type: 'object', properties: { 'x-mcp-header': { type: 'string' }, region } };
  expect(withoutParameterHeaders(schema)).toMatchObject({ properties: { 'x-mcp-header': plain } });
  expect(parameterHeaders(schema)).toHaveLength(1);
});

it('a schema without it is the same object', () => {
  const schema = { type: 'object', properties: { a: plain } };
  expect(withoutParameterHeaders(schema)).toBe(schema);
});
