// Headers that a tool asks for say what the arguments say, in plain or in base64, and are there where those are.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonValue } from '../../../contract/json.ts';
import type { ParameterHeader } from '../../../formats/mcp/parameter-headers.ts';
import { unlikeArguments } from './said-parameters.ts';

const asking = (type: ParameterHeader['type']) => [
  { header: 'mcp-param-region', path: ['place', 'region'], type },
];
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
const typeOf = (value: JsonValue | undefined): ParameterHeader['type'] =>
  typeof value === 'number' ? 'integer' : typeof value === 'boolean' ? 'boolean' : 'string';
const faultOf = (region: JsonValue | undefined, said?: string, type = typeOf(region)) =>
  unlikeArguments(asking(type), region === undefined ? {} : { place: { region } }, {
    ...(said !== undefined && { 'mcp-param-region': said }),
  });

it('any text is taken in base64, and no other text for it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const whole = text.toWellFormed();
      expect(faultOf(whole, base64(whole))).toBeUndefined();
      expect(faultOf(whole, base64(`${whole}x`))).toContain('does not say');
    }),
  );
});

it.each<[string, JsonValue, string]>([
  ['a plain text', 'us-west1', 'us-west1'],
  ['a text that only looks like base64', 'SGVsbG8=', 'SGVsbG8='],
  ['a text that begins like base64 and does not end so', '=?base64?SGVsbG8=', '=?base64?SGVsbG8='],
  ['an integer', 42, '42'],
  ['an integer as another text of it', 42, '042'],
  ['a boolean', false, 'false'],
  ['spaces around it', 'a', ' a '],
])('takes %s', (_case, value, said) => {
  expect(faultOf(value, said)).toBeUndefined();
});

it.each<[string, JsonValue | undefined, string | undefined, string]>([
  ['one that is missing', 'us', undefined, 'is missing'],
  ['another text', 'us', 'eu', 'does not say'],
  ['base64 without its padding', 'Hello', '=?base64?SGVsbG8?=', 'does not say'],
  ['base64 of other characters', 'Hello', '=?base64?SGVs!!!bG8=?=', 'does not say'],
  ['base64 that is no text', '\u{fffd}', '=?base64?/w==?=', 'does not say'],
  ['a number that is no integer', 1, '1.0', 'does not say'],
  ['nothing as zero', 0, '', 'does not say'],
  ['bytes that no text is said to be in', '\u{e9}', '\u{e9}', 'does not say'],
  ['one of an argument that is not there', undefined, 'us', 'and arguments.place.region is not'],
  ['one of null', null, 'null', 'and arguments.place.region is not'],
])('refuses %s', (_case, value, said, why) => {
  expect(faultOf(value, said)).toContain(why);
});

it('an integer of 64 bits, which stands in the arguments as its digits, is held to each of them', () => {
  const large = '9223372036854775807';
  expect(faultOf(large, large, 'integer')).toBeUndefined();
  expect(faultOf(large, '9223372036854775806', 'integer')).toContain('does not say');
  expect(faultOf(large, undefined, 'integer')).toContain('is missing');
});

it('leaves to the schema what is of another kind, and asks for nothing behind it', () => {
  expect(faultOf(['us'])).toBeUndefined();
  expect(faultOf(7, undefined, 'string')).toBeUndefined();
  expect(faultOf('7', undefined, 'integer')).toBeUndefined();
  expect(faultOf(1.5, '1.5', 'integer')).toBeUndefined();
  expect(faultOf('true', undefined, 'boolean')).toBeUndefined();
  expect(unlikeArguments(asking('string'), { place: 'here' }, {})).toBeUndefined();
  const [one] = asking('string').map((each) => ({ ...each, path: ['__proto__', 'a'] }));
  expect(unlikeArguments(one === undefined ? [] : [one], {}, {})).toBeUndefined();
});
