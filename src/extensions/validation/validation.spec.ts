import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import {
  callOf,
  echoNext,
  functionOf,
  outcomeOf,
  requestOf,
  through,
} from '../../../test/helpers/call-kit.ts';
import type { JsonObject } from '../../contract/json.ts';
import { functionsOf, type ToolFunction } from '../../contract/tool/tool-function.ts';
import { specOf } from '../../../test/helpers/call-kit.ts';
import { validation } from './index.ts';

const OPTIONS = validation.optionsSchema.parse({});

async function callTool(fn: ToolFunction, args: JsonObject, options = OPTIONS, config: JsonObject = {}) {
  const { calls, next } = echoNext();
  const call = callOf({ function: fn, request: requestOf({ arguments: args }), arguments: args, config });
  const response = await outcomeOf(
    async () => through(validation.create({ clock: new FakeClock() }), call, next, options),
    call,
  );
  return { response, seen: calls[0]?.arguments };
}

const adder = functionOf({
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number', default: 2 } },
    required: ['a'],
    additionalProperties: false,
  },
});

describe('validation', () => {
  it('arguments that do not fit never reach the tool, and the caller learns where and what was expected', async () => {
    const { response, seen } = await callTool(adder, { a: 'one' });
    expect(response).toMatchObject({
      ok: false,
      error: { type: 'VALIDATION', reason: 'SCHEMA_MISMATCH', details: { violations: [{ pointer: '/a' }] } },
    });
    expect(JSON.stringify(response)).not.toContain('one"');
    expect(seen).toBeUndefined();
  });

  it('a null that stands for an argument left out counts as left out; one that is required does not', async () => {
    expect((await callTool(adder, { a: 1, b: null })).seen).toEqual({ a: 1, b: 2 });
    expect((await callTool(adder, { a: null, b: 1 })).response).toMatchObject({
      error: { type: 'VALIDATION' },
    });
  });

  it("fills in the schema's defaults without touching the caller's object", async () => {
    const args = { a: 1 };
    const { seen } = await callTool(adder, args);
    expect(seen).toEqual({ a: 1, b: 2 });
    expect(args).toEqual({ a: 1 });
  });

  const [create] = functionsOf(
    specOf({
      actions: [
        {
          name: 'create',
          description: 'Creates',
          parameters: [
            {
              name: 'minutes',
              type: 'integer',
              required: false,
              defaultFromConfig: 'default_minutes',
              minValue: 5,
            },
            { name: 'at', type: 'datetime', required: false },
          ],
        },
      ],
    }),
  );
  if (create === undefined) throw new Error('no function');

  it("an argument wins over the agent's config, the config over nothing", async () => {
    expect((await callTool(create, { minutes: 10 }, OPTIONS, { default_minutes: 30 })).seen).toEqual({
      minutes: 10,
    });
    expect((await callTool(create, {}, OPTIONS, { default_minutes: 30 })).seen).toEqual({ minutes: 30 });
    expect((await callTool(create, {}, OPTIONS, {})).seen).toEqual({});
  });

  it('a value from the config is held to the schema like any other', async () => {
    expect((await callTool(create, {}, OPTIONS, { default_minutes: 1 })).response).toMatchObject({
      error: { type: 'VALIDATION' },
    });
  });

  it.each(['tomorrow', '2026-02-30T10:00:00Z', '2026-01-30'])('refuses %s as a datetime', async (at) => {
    expect((await callTool(create, { at })).response).toMatchObject({
      ok: false,
      error: { type: 'VALIDATION' },
    });
  });

  it("business_id must be the credential's tenant, and is stripped where the tool does not declare it", async () => {
    expect((await callTool(adder, { a: 1, business_id: 'acme' })).seen).toEqual({ a: 1, b: 2 });
    expect((await callTool(adder, { a: 1, business_id: 'other' })).response).toMatchObject({
      error: { type: 'PERMISSION_DENIED', reason: 'TENANT_MISMATCH' },
    });
    const declaring = functionOf({
      inputSchema: { type: 'object', properties: { business_id: { type: 'string' } } },
    });
    expect((await callTool(declaring, { business_id: 'acme' })).seen).toEqual({ business_id: 'acme' });
  });

  const strictOutput = functionOf({ outputSchema: { type: 'object', required: ['id'] } });

  it('a result that breaks the output schema is OUTPUT_INVALID', async () => {
    expect((await callTool(strictOutput, {})).response).toMatchObject({
      ok: false,
      error: { type: 'OUTPUT_INVALID' },
    });
    expect((await callTool(strictOutput, { id: 1 })).response.ok).toBe(true);
  });

  it('output checks can be switched off', async () => {
    expect((await callTool(strictOutput, {}, { ...OPTIONS, output: 'off' })).response.ok).toBe(true);
  });
});
