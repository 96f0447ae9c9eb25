// The checkers see what providers are known to refuse: that they refuse nothing of the lists says something.
import { describe, expect, it } from 'vitest';
import { refusalsOfAnthropic, refusalsOfAnthropicRequest } from './anthropic.ts';
import { refusalsOfBedrock } from './bedrock.ts';
import { refusalsOfGemini } from './gemini.ts';
import { refusalsOfMcp } from './mcp.ts';
import { refusalsOfOpenAi } from './openai.ts';
import type { Schema } from './walk.ts';

const named = { name: 'tool', description: 'Does it.' };
const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });
const strict = (properties: Schema, more: Schema = {}): Schema =>
  object(properties, { required: Object.keys(properties), additionalProperties: false, ...more });
const CIRCLE = { $defs: { N: strict({ n: { $ref: '#/$defs/N' } }) } };

const openAi = (parameters: Schema, isStrict = false) =>
  refusalsOfOpenAi({ ...named, parameters, strict: isStrict }).join('\n');
const anthropic = (schema: Schema, isStrict = false) =>
  refusalsOfAnthropic({ ...named, input_schema: schema, strict: isStrict }).join('\n');
const gemini = (schema: Schema) => refusalsOfGemini({ ...named, parametersJsonSchema: schema }).join('\n');

it('take what is plain', () => {
  const plain = strict({ a: { type: 'string' }, list: { type: 'array', items: { type: 'integer' } } });
  expect([
    openAi(plain),
    openAi(plain, true),
    anthropic(plain),
    anthropic(plain, true),
    gemini(plain),
  ]).toEqual(['', '', '', '', '']);
});

it.each<[string, Schema, string, boolean?]>([
  ['an array without items', object({ a: { type: 'array' } }), 'array schema missing items'],
  ['a union at the top', { ...object({}), anyOf: [] }, 'must not have anyOf at the top level'],
  ['no properties', { type: 'object' }, 'missing properties'],
  ['a property that is true', object({ a: true }), 'true is not of type "object"'],
  ['a reference to nowhere', object({ a: { $ref: '#/$defs/A' } }), 'leads nowhere'],
  [
    'an optional property, strictly',
    { ...strict({ a: { type: 'string' } }), required: [] },
    "'required'",
    true,
  ],
  ['an open object, strictly', { ...strict({}), additionalProperties: true }, "'additionalProperties'", true],
  [
    'a keyword beyond the subset, strictly',
    strict({ a: { type: 'string', minLength: 1 } }),
    "'minLength'",
    true,
  ],
  [
    'words beside a reference, strictly',
    strict({ a: { $ref: '#/$defs/N', title: 'A' } }, CIRCLE),
    'beside it',
    true,
  ],
])('OpenAI refuses %s', (_what, schema, message, isStrict) => {
  expect(openAi(schema, isStrict)).toContain(message);
});

it('OpenAI refuses a description of 1,025 characters and a name with a dot', () => {
  const parameters = object({});
  expect(refusalsOfOpenAi({ ...named, description: 'x'.repeat(1_025), parameters }).join()).toContain('1024');
  expect(refusalsOfOpenAi({ ...named, name: 'a.b', parameters }).join()).toContain('name');
});

it.each<[string, Schema, string, boolean?]>([
  ['a name of a property with brackets', object({ a: object({ 'b[c]': {} }) }), 'keys should match'],
  ['allOf at the top', { ...object({}), allOf: [] }, 'allOf at the top level'],
  ['a tuple of draft-07', object({ a: { items: [{}] } }), 'no schema of 2020-12'],
  ['a circle, strictly', strict({ a: { $ref: '#/$defs/N' } }, CIRCLE), 'recursive', true],
  ['a bound, strictly', strict({ a: { type: 'integer', minimum: 1 } }), 'the SDK makes another', true],
  ['no type, strictly', strict({ a: {} }), 'the SDK refuses it', true],
])('Anthropic refuses %s', (_what, schema, message, isStrict) => {
  expect(anthropic(schema, isStrict)).toContain(message);
});

it('Anthropic refuses 21 strict tools in one request', () => {
  const tools = Array.from({ length: 21 }, () => ({ ...named, input_schema: strict({}), strict: true }));
  expect(refusalsOfAnthropicRequest(tools)).toEqual(['21 strict tools are more than 20']);
});

describe('Gemini', () => {
  it.each<[string, Schema, string]>([
    ['a keyword beyond the subset', object({ a: { const: 'x' } }), 'Unknown name "const"'],
    ['an enum of numbers', object({ a: { type: 'integer', enum: [1] } }), 'TYPE_STRING'],
    ['an enum without a type', object({ a: { enum: ['x'] } }), 'only allowed for STRING type'],
    ['a required name that is not declared', object({}, { required: ['a'] }), 'property is not defined'],
    ['a name with a hyphen', object({ 'a-b': {} }), 'no parameter is called a-b'],
    ['words beside a reference', object({ a: { $ref: '#/$defs/N', title: 'A' } }, CIRCLE), 'beside $ref'],
    ['a circle of what is required', object({ a: { $ref: '#/$defs/N' } }, CIRCLE), 'a cyclic reference'],
  ])('refuses %s', (_what, schema, message) => {
    expect(gemini(schema)).toContain(message);
  });
});

it('Bedrock refuses an empty description, MCP clients a property that is true', () => {
  const toolSpec = { name: 'a', description: '', inputSchema: { json: object({}) } };
  expect(refusalsOfBedrock({ toolSpec }).join()).toContain('min length 1');
  expect(refusalsOfMcp({ tools: [{ name: 'a', inputSchema: object({ a: true }) }] })).not.toEqual([]);
});
