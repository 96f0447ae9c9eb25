import { describe, expect, it } from 'vitest';
import { targetOf } from '../../../test/helpers/python-ports.ts';
import type { JsonObject } from '../../contract/json.ts';
import { checkSignature, readChecked, type Signature } from './signature.ts';

const add: Signature = {
  is_async: false,
  takes_context: false,
  accepts_any: false,
  parameters: ['a', 'b'],
  required: ['a', 'b'],
};
const check = (inputSchema: JsonObject, signature: Partial<Signature> = {}) =>
  checkSignature(targetOf({ module: 'm', function_name: 'f' }, { inputSchema }).function, {
    ...add,
    ...signature,
  });

describe('a signature and its schema', () => {
  it('agree where every call that the schema allows can be made', () => {
    expect(() => check({})).not.toThrow();
    expect(() => check({ properties: { a: {}, b: {} }, additionalProperties: false })).not.toThrow();
    expect(() => check({ properties: { other: {} } }, { accepts_any: true })).not.toThrow();
  });

  it('disagree on a property that is no parameter', () => {
    expect(() => check({ properties: { a: {}, c: {} } })).toThrow(/property c, .* it takes a, b\./);
    expect(() => check({ properties: { a: {} } }, { parameters: [], required: [] })).toThrow(
      'it takes no arguments',
    );
  });

  it('disagree on a parameter that no caller can fill', () => {
    expect(() => check({ properties: { a: {} }, additionalProperties: false })).toThrow(
      /needs an argument named b/,
    );
    expect(() => check({ properties: { a: {} } })).not.toThrow();
  });

  it('disagree on a property named context where the gateway fills it', () => {
    const schema = { properties: { a: {}, context: {} } };
    expect(() => check(schema, { takes_context: true })).toThrow(/named context/);
    expect(() => check(schema, { parameters: ['a', 'context'], required: [] })).not.toThrow();
  });

  it('that a worker makes up are refused', () => {
    expect(() => readChecked({ signature: { ...add, parameters: 'all' }, files: [] })).toThrow(
      /expected array/,
    );
    expect(() => readChecked({ signature: add as never })).toThrow(/files/);
    const checked = { signature: { ...add, parameters: ['a', 'b'], required: [] }, files: ['/m.py'] };
    expect(readChecked(checked)).toEqual(checked);
  });
});
