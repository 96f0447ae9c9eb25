// What becomes of arguments that a tool does not declare.
import { describe, expect, it } from 'vitest';
import { callOf, echoNext, outcomeOf, requestOf, specOf, through } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { JsonObject, JsonSchema } from '../../contract/json.ts';
import { functionsOf } from '../../contract/tool/tool-function.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import { withClosedRoot, type UndeclaredArguments } from './closed-root.ts';
import { validation } from './index.ts';

async function call(spec: ToolSpec, args: JsonObject, undeclared: UndeclaredArguments = 'refuse') {
  const options = validation.optionsSchema.parse({ undeclared_arguments: undeclared });
  const [fn] = functionsOf(withClosedRoot(spec, undeclared));
  const { calls, next } = echoNext();
  const made = callOf({ function: fn, request: requestOf({ arguments: args }), arguments: args });
  const extension = validation.create({ clock: new FakeClock() });
  const response = await outcomeOf(async () => through(extension, made, next, options), made);
  return { seen: calls[0]?.arguments, error: response.ok ? undefined : response.error };
}

const city: JsonSchema = { type: 'object', properties: { city: { type: 'string' } } };
const draft07 = { $schema: 'http://json-schema.org/draft-07/schema#' };

/** Each declares `city` and `days`, and nothing else. */
const DECLARING: readonly (readonly [string, JsonSchema])[] = [
  ['properties', { properties: { city: {}, days: {} } }],
  ['allOf', { ...city, allOf: [{ properties: { days: {} } }] }],
  ['$ref', { ...city, $ref: '#/$defs/more', $defs: { more: { properties: { days: {} } } } }],
  ['anyOf', { ...city, anyOf: [{ properties: { days: {} } }, { required: ['city'] }] }],
  ['if and else', { ...city, if: { required: ['country'] }, else: { properties: { days: {} } } }],
  ['draft-07', { ...draft07, ...city, allOf: [{ properties: { days: {} } }] }],
];

describe('arguments that a tool does not declare', () => {
  it.each(DECLARING)('are refused by name where others are declared by %s', async (_name, inputSchema) => {
    const spec = specOf({ inputSchema });
    expect((await call(spec, { city: 'x', days: 2 })).seen).toEqual({ city: 'x', days: 2 });
    const { seen, error } = await call(spec, { city: 'x', days: 2, admin: true });
    expect(seen).toBeUndefined();
    expect(error).toMatchObject({
      type: 'VALIDATION',
      reason: 'SCHEMA_MISMATCH',
      details: { violations: [{ pointer: '/admin', message: 'is not an expected property' }] },
    });
  });

  it.each(DECLARING)('are dropped by setting where others are declared by %s', async (_name, inputSchema) => {
    const args = { city: 'x', days: 2, admin: true, root: { a: 1 } };
    expect((await call(specOf({ inputSchema }), args, 'drop')).seen).toEqual({ city: 'x', days: 2 });
    expect(args).toHaveProperty('admin');
  });

  it('reach the tool only where the operator allows it', async () => {
    expect((await call(specOf({ inputSchema: city }), { other: 1 }, 'allow')).seen).toEqual({ other: 1 });
  });

  it('are answered with the name that was probably meant, and not with one that is given', async () => {
    const spec = specOf({ inputSchema: { properties: { city: {}, cities: {}, units: {} } } });
    const { error } = await call(spec, { city: 'x', citis: 1, unit: 'c' });
    expect(error?.details).toEqual({
      violations: [
        { pointer: '/citis', message: 'is not an expected property; did you mean "cities"?' },
        { pointer: '/unit', message: 'is not an expected property; did you mean "units"?' },
      ],
    });
  });

  it('are no arguments of a tool that declares none', async () => {
    expect((await call(specOf(), { a: 1 })).error).toMatchObject({ type: 'VALIDATION' });
  });

  it('of an action are refused, dropped or passed on by the same setting', async () => {
    const action = { name: 'go', description: 'Goes', parameters: [] };
    const spec = specOf({ actions: [action] });
    expect((await call(spec, { a: 1 })).error).toMatchObject({ type: 'VALIDATION' });
    expect((await call(spec, { a: 1 }, 'drop')).seen).toEqual({});
    expect((await call(spec, { a: 1 }, 'allow')).seen).toEqual({ a: 1 });
  });

  it('inside of an argument stay what the schema makes of them', async () => {
    const spec = specOf({ inputSchema: { properties: { at: { type: 'object', properties: { x: {} } } } } });
    expect((await call(spec, { at: { x: 1, y: 2 } })).seen).toEqual({ at: { x: 1, y: 2 } });
  });

  it.each([
    ['additionalProperties', { additionalProperties: true }],
    ['additionalProperties as a schema', { additionalProperties: { type: 'number' } }],
    ['unevaluatedProperties', { unevaluatedProperties: true }],
    ['patternProperties', { patternProperties: { '^o': {} } }],
    ['allOf that takes others', { allOf: [{ additionalProperties: true }] }],
  ])('are declared where the schema speaks of them by %s', async (_name, says) => {
    expect((await call(specOf({ inputSchema: { ...city, ...says } }), { other: 1 })).seen).toEqual({
      other: 1,
    });
  });

  it('of a tool that somebody else wrote are what its source says', async () => {
    const spec = specOf({ inputSchema: city, foreign: { server: 'theirs' } });
    expect(withClosedRoot(spec, 'refuse')).toBe(spec);
  });

  it('leave business_id alone: it is compared with the tenant, and stripped, before any of this', async () => {
    const spec = specOf({ inputSchema: city });
    expect((await call(spec, { city: 'x', business_id: 'acme' })).seen).toEqual({ city: 'x' });
    expect((await call(spec, { city: 'x', business_id: 'other' })).error).toMatchObject({
      reason: 'TENANT_MISMATCH',
    });
    const declares = specOf({ inputSchema: { allOf: [{ properties: { business_id: {} } }] } });
    expect((await call(declares, { business_id: 'acme' })).seen).toEqual({ business_id: 'acme' });
  });

  it('are not taken for the reason where something else is wrong', async () => {
    const inputSchema = { anyOf: [{ properties: { a: { type: 'number' } }, required: ['a'] }] };
    const { error } = await call(specOf({ inputSchema }), { a: 'x', b: 1 }, 'drop');
    expect(error?.details).toMatchObject({
      violations: expect.arrayContaining([{ pointer: '/a', message: 'must be number, found string' }]),
    });
  });
});
