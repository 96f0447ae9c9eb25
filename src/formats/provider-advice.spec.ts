// Provider advice: what is refused is named with the provider, the place, and what is shown instead.
import { describe, expect, it } from 'vitest';
import { functionOf } from '../../test/helpers/call-kit.ts';
import { providerAdvice } from './provider-advice.ts';

const adviceOf = (inputSchema: object, description = 'Short.') =>
  providerAdvice({ ...functionOf(), description, inputSchema: inputSchema as never }).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

describe('providerAdvice', () => {
  it('says nothing of what every provider takes', () => {
    expect(
      adviceOf(object({ a: { type: 'array', items: { enum: ['x', 'y'] } } }, { required: ['a'] })),
    ).toEqual([]);
  });

  it.each<[string, object, string]>([
    [
      'an array without items',
      object({ a: { type: ['array', 'null'] } }),
      'properties.a: OpenAI, Gemini, Bedrock and Mistral refuse this: an array without items; its items are anything: say what they are',
    ],
    [
      'a name that most refuse',
      object({ 'filter[name]': {} }),
      'properties.filter[name]: Anthropic, Gemini and Bedrock refuse this: a property called "filter[name]"; it is called filter_name_ there, and calls may use either',
    ],
    [
      'a name that only Gemini refuses',
      object({ a: { items: object({ 'x-y': {} }) } }),
      'properties.a.items.properties.x-y: Gemini refuses this: a property called "x-y"; it is called x_y there, and calls may use either',
    ],
    [
      'an enum of numbers',
      object({ a: { enum: [1, 2] } }),
      'properties.a.enum: Gemini refuses this: an enum of anything but texts; its values stand in the description',
    ],
    [
      'required names that nobody declares',
      object({}, { required: ['a'] }),
      'required: Gemini refuses this: required names that properties does not declare: a; they stand in the description',
    ],
    [
      'a property that is true',
      object({ a: true }),
      'properties.a: OpenAI, Gemini, Bedrock, Mistral and MCP refuse this: a property that is true; it is {}',
    ],
    [
      'a circle',
      object({ a: { $ref: '#' } }),
      ': Anthropic refuses this: a schema that leads back to itself, in strict mode; the tool is not strict there',
    ],
    [
      'alternatives at the root',
      { type: 'object', anyOf: [{ properties: { a: {} } }] },
      'anyOf: OpenAI and Anthropic refuse this: alternatives at the root; they are folded into one object, and each argument that not all of them require is optional',
    ],
  ])('names the provider and the place: %s', (_what, schema, advice) => {
    expect(adviceOf(schema)).toEqual([advice]);
  });

  it('tells of a description that is too long for OpenAI', () => {
    expect(adviceOf(object({}), 'x'.repeat(1_025))).toEqual([
      'description: OpenAI refuses this: a description of more than 1024 characters, found 1025 with the summary; it is cut, and whole in the documentation of the tool',
    ]);
    expect(adviceOf(object({}), 'x'.repeat(1_024))).toEqual([]);
  });

  it('says no more than ten things of one function', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`p${at}`, { type: 'array' }]));
    expect(adviceOf(object(many))).toHaveLength(10);
  });
});
