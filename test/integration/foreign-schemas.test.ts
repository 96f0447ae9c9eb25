// Schemas of others in their thread: bombs that no linter has seen end the thread, and neither the gateway nor its next check.
import { setImmediate as yieldToLoop } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';
import { functionsOf } from '../../src/contract/tool/tool-function.ts';
import { validation } from '../../src/extensions/validation/index.ts';
import { ForeignCheckError, ForeignSchemas } from '../../src/lib/json-schema/foreign/foreign-schemas.ts';
import { schemaCheck } from '../../src/lib/json-schema/foreign/schema-check.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { callOf, echoNext, outcomeOf, requestOf, specOf, through } from '../helpers/call-kit.ts';
import { realClock } from '../helpers/python-ports.ts';

const SUM = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number', default: 2 } },
  required: ['a'],
};

/** Ajv writes it out as code: 2^25 functions' worth. */
const BOMB: JsonObject = {
  type: 'object',
  properties: { it: { $ref: '#/$defs/d0' } },
  $defs: Object.fromEntries(
    Array.from({ length: 26 }, (_, at) => [
      `d${at}`,
      {
        anyOf:
          at === 25 ? [{ type: 'string' }] : [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }],
      },
    ]),
  ),
};

/** Each level of the value is checked twice, and fits: 2^28 checks, and nothing to remember of them. */
const SLOW = {
  type: 'object',
  properties: { list: { $ref: '#/$defs/list' } },
  $defs: {
    list: { type: 'array', items: { allOf: [{ $ref: '#/$defs/list' }, { $ref: '#/$defs/list' }] } },
  },
};
const SLOW_VALUE = JSON.stringify({ list: JSON.parse(`${'['.repeat(28)}${']'.repeat(28)}`) as JsonValue });

function nested(levels: number): string {
  return `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
}

/** How often the event loop of this thread came round in the meantime. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const progress = { isOver: false };
  const count = async (): Promise<void> => {
    for (; !progress.isOver; turns += 1) await yieldToLoop();
  };
  const counting = count();
  await work().finally(() => (progress.isOver = true));
  await counting;
  return turns;
}

let schemas: ForeignSchemas;

beforeEach(() => {
  schemas = new ForeignSchemas((ms, task) => realClock.after(ms, task), { checkMs: 250, compileMs: 10_000 });
});

afterEach(() => schemas.close());

describe('in the thread', () => {
  it('a value is held to its schema, and gets the defaults of it', async () => {
    const sum = schemas.validatorOf(SUM);
    expect(await sum.validate('{"a":1}')).toEqual({
      kind: 'validated',
      violations: [],
      filled: '{"a":1,"b":2}',
    });
    const { violations } = await sum.validate('{"a":"x"}');
    expect(violations).toEqual([{ pointer: '/a', message: 'must be number, found string' }]);
  });

  it('more schemas than it keeps are all applied', async () => {
    const many = Array.from({ length: 150 }, (_, at) =>
      schemas.validatorOf({ type: 'object', minProperties: at }),
    );
    for (let round = 0; round < 2; round += 1) {
      const verdicts = await Promise.all(many.map((one) => one.validate('{"a":1,"b":2}')));
      expect(verdicts.filter(({ violations }) => violations.length === 0)).toHaveLength(3);
    }
  });

  it('a schema bomb takes its memory alone, and the next check is answered as ever', async () => {
    const bomb = schemas.validatorOf(BOMB).validate('{"it":3}');
    await expect(bomb).rejects.toThrow(/memory limit|was not done within/);
    expect(await schemas.validatorOf(SUM).validate('{"a":1}')).toMatchObject({ violations: [] });
  });

  it('a check without an end is ended, and the main thread does not notice', async () => {
    const slow = schemas.validatorOf(SLOW);
    await slow.validate('{"list":[]}');
    const check = () =>
      expect(slow.validate(SLOW_VALUE)).rejects.toThrow('was not done within 250 ms of work');
    expect(await turnsDuring(check)).toBeGreaterThan(100);
    expect(await slow.validate('{"list":1}')).toMatchObject({ violations: [{ pointer: '/list' }] });
  });

  it('an honest schema is not given up because the machine was busy: the thread’s own work counts, and no clock', async () => {
    const clock = new FakeClock();
    const busy = new ForeignSchemas((ms, task) => clock.after(ms, task));
    const honest = {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 400 }, (_, at) => [`p${at}`, { type: 'string', maxLength: at }]),
      ),
    };
    expect(await busy.lint(SUM)).toEqual([]);
    const linted = busy.lint(honest);
    // Twenty seconds go by on the clock before the thread has done two of them.
    for (let second = 0; second < 20; second += 1) await clock.advance(1_000);
    expect(await linted).toEqual(await schemas.lint(honest));
    expect(await busy.lint(SUM)).toEqual([]);
    await busy.close();
  });

  it('a value nested a hundred thousand times is refused or ends the thread, and never the process', async () => {
    const recursive = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: { items: { $ref: '#/$defs/a' } } },
    };
    const outcome = schemas.validatorOf(recursive).validate(nested(100_000));
    const verdict = await outcome.catch((error: unknown) => error);
    expect(
      verdict instanceof ForeignCheckError || (verdict as { violations: object[] }).violations.length > 0,
    ).toBe(true);
    expect(await schemas.validatorOf(SUM).validate('{"a":1}')).toMatchObject({ violations: [] });
  });

  it('a schema that keeps ending it rests for a while, so that others are not held up', async () => {
    await schemas.close();
    schemas = new ForeignSchemas((ms, task) => realClock.after(ms, task), { compileMs: 700 });
    const slow = schemas.validatorOf(SLOW);
    for (let strike = 0; strike < 3; strike += 1) await Promise.allSettled([slow.validate(SLOW_VALUE)]);
    // At once, before the thread could have done any work.
    await expect(slow.validate(SLOW_VALUE)).rejects.toThrow('rests for a minute');
  });

  it('of more checks than may wait, one more is refused at once; one whose caller has gone is not done', async () => {
    await schemas.close();
    schemas = new ForeignSchemas((ms, task) => realClock.after(ms, task), { maxWaiting: 2 });
    const sum = schemas.validatorOf(SUM);
    const gone = new AbortController();
    const first = sum.validate('{"a":1}');
    const second = sum.validate('{"a":1}', gone.signal);
    const third = sum.validate('{"a":1}');
    await expect(sum.validate('{"a":1}')).rejects.toMatchObject({ why: 'busy' });
    gone.abort(new Error('the caller has gone'));
    await expect(second).rejects.toThrow('the caller has gone');
    expect((await Promise.all([first, third])).map(({ violations }) => violations)).toEqual([[], []]);
  });

  it('a bomb under the linter is contained as well', async () => {
    expect(await schemas.lint(BOMB)).not.toEqual([]);
    expect(await schemas.lint(SUM)).toEqual([]);
  });
});

const options = validation.optionsSchema.parse({});

async function callOn(of: Parameters<typeof specOf>[0], args: JsonObject) {
  const extension = validation.create({ clock: realClock });
  const [fn] = functionsOf(specOf(of));
  const { calls, next } = echoNext();
  const call = callOf({ function: fn as never, request: requestOf({ arguments: args }), arguments: args });
  const response = await outcomeOf(async () => through(extension, call, next, options), call);
  await extension.close?.();
  return { response, seen: calls[0]?.arguments };
}

describe('validation by a large schema of the operator', () => {
  const LARGE = {
    type: 'object',
    properties: {
      ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`p${at}`, { type: 'number' }])),
      mode: { type: 'string', default: 'fast' },
    },
  };

  it('is left to the thread, where it would hold the event loop to be compiled', () => {
    expect(schemaCheck(schemas, LARGE).here).toBeUndefined();
    expect(schemaCheck(schemas, SUM).here).toBeDefined();
  });

  it('refuses what does not fit, with every place, and fills in defaults', async () => {
    expect((await callOn({ inputSchema: LARGE }, { p7: 1 })).seen).toEqual({ p7: 1, mode: 'fast' });
    const { response, seen } = await callOn({ inputSchema: LARGE }, { p7: 'x', p299: 'y' });
    expect(response).toMatchObject({
      error: {
        reason: 'SCHEMA_MISMATCH',
        details: { violations: [{ pointer: '/p7' }, { pointer: '/p299' }] },
      },
    });
    expect(seen).toBeUndefined();
  });

  it('holds results to it', async () => {
    const { response } = await callOn({ inputSchema: { type: 'object' }, outputSchema: LARGE }, { p7: 'x' });
    expect(response).toMatchObject({ error: { type: 'OUTPUT_INVALID', reason: 'SCHEMA_MISMATCH' } });
  });
});

describe('validation of a tool that a server defines', () => {
  const callWith = (inputSchema: JsonObject, args: JsonObject, outputSchema?: JsonObject) =>
    callOn({ inputSchema, ...(outputSchema && { outputSchema }), foreign: { server: 'files' } }, args);

  it('refuses what does not fit, fills in defaults, and takes a null for an argument left out', async () => {
    expect((await callWith(SUM, { a: 1 })).seen).toEqual({ a: 1, b: 2 });
    expect((await callWith(SUM, { a: 1, b: null })).seen).toEqual({ a: 1, b: 2 });
    const { response, seen } = await callWith(SUM, { a: null });
    expect(response).toMatchObject({ error: { type: 'VALIDATION', reason: 'SCHEMA_MISMATCH' } });
    expect(seen).toBeUndefined();
  });

  it('holds the result to the pinned output schema', async () => {
    const { response } = await callWith({ type: 'object' }, { a: 1 }, { type: 'object', required: ['sum'] });
    expect(response).toMatchObject({ error: { type: 'OUTPUT_INVALID', reason: 'SCHEMA_MISMATCH' } });
  });

  it('refuses the call where the check of its arguments takes too much, and says so', async () => {
    const { response, seen } = await callWith(BOMB, { it: 3 });
    expect(response).toMatchObject({
      error: { type: 'UNAVAILABLE', reason: 'SCHEMA_CHECK_FAILED', retryable: false },
    });
    expect(seen).toBeUndefined();
  });

  it('another tenant’s business_id is refused here, too', async () => {
    const { response } = await callWith({ type: 'object' }, { business_id: 'umbrella' });
    expect(response).toMatchObject({ error: { type: 'PERMISSION_DENIED', reason: 'TENANT_MISMATCH' } });
    expect((await callWith({ type: 'object' }, { business_id: 'acme', x: 1 })).seen).toEqual({ x: 1 });
  });
});
