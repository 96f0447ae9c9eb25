// BuiltVersions: built once however many ask, kept while used, closed afterwards, and never older than connections and code.
import { z } from 'zod';
import { beforeEach, describe, expect, it } from 'vitest';
import { recordingLog, looksOnly } from '../../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import type { Connection, Executor, ExecutorPlugin, PreparedFunction } from '../../contract/plugin.ts';
import { functionsOf, type ToolFunction } from '../../contract/tool/tool-function.ts';
import { checkTool } from '../checks/check-tool.ts';
import { BuiltVersions } from './built-versions.ts';
import type { SpecRules } from '../spec-rules.ts';
import type { Definition } from './version-keeper.ts';

const plugin: ExecutorPlugin<unknown, never> = {
  name: 'fake',
  summary: 'For tests.',
  optionsSchema: z.strictObject({ edition: z.number(), connection: z.string().optional() }),
  connectionTypes: { box: z.object({}) },
  create: () => {
    throw new Error('not made here');
  },
};
const rules: SpecRules = { executors: new Map([['fake', plugin]]), extensions: new Map() };

function documentOf(edition: number, connection?: string) {
  const implementation = { edition, ...(connection !== undefined && { connection }) };
  return { name: 'greet', description: 'Greets', tool_type: 'fake', implementation_config: implementation };
}

function hashOf(edition: number): string {
  return edition.toString(16).padStart(64, '0');
}

let clock: FakeClock;
let prepared: number[];
let closed: number[];
let stale: Set<number>;
let definitions: Map<string, Definition>;
let connections: Map<string, Connection>;
let lookups: number;
let hold: Promise<void> | undefined;
let versions: BuiltVersions;
let inForce: ToolFunction;

const executor: Executor<{ edition: number }> = {
  async prepare({ options: { edition } }): Promise<PreparedFunction> {
    await hold;
    if (edition === 13) throw new Error('there is no edition 13');
    prepared.push(edition);
    const close = async () => void closed.push(edition);
    return { execute: async () => ({ data: edition }), close, isStale: () => stale.delete(edition) };
  },
};

function functionInForce(edition: number): ToolFunction {
  const raw = { value: documentOf(edition), contentHash: '', baseDir: '/', locate: () => ({ file: '' }) };
  const result = checkTool(raw, rules);
  const [fn] = 'checked' in result ? functionsOf(result.checked.spec) : [];
  if (fn === undefined) throw new Error('the tool in force is not valid');
  return fn;
}

beforeEach(() => {
  clock = new FakeClock();
  [prepared, closed, lookups, hold] = [[], [], 0, undefined];
  stale = new Set();
  connections = new Map([['one', { name: 'one', type: 'box', settings: {} }]]);
  definitions = new Map();
  for (let edition = 1; edition <= 200; edition += 1) {
    const contentHash = hashOf(edition);
    const connection = edition === 50 ? 'one' : undefined;
    definitions.set(contentHash, { contentHash, document: documentOf(edition, connection), baseDir: '' });
  }
  versions = new BuiltVersions({
    definitions: {
      async find(_name, pin) {
        lookups += 1;
        await hold;
        return definitions.get(pin.includes('.') ? hashOf(Number(pin.split('.')[0])) : pin);
      },
    },
    connections: () => connections,
    rules,
    executors: new Map([['fake', executor as Executor<unknown>]]),
    compiler: looksOnly,
    configDir: '/config',
    clock,
    log: recordingLog(),
  });
  inForce = functionInForce(1_000);
});

const take = (edition: number) => versions.take(inForce, hashOf(edition));
const reasonOf = (edition: number) =>
  take(edition).then(
    () => undefined,
    (error: { reason: string }) => error.reason,
  );

describe('a version', () => {
  it('is built once, however many calls ask for it together, and not looked for again', async () => {
    const taken = await Promise.all(Array.from({ length: 100 }, () => take(1)));
    expect(prepared).toEqual([1]);
    expect(lookups).toBe(1);
    expect(taken.every(({ tool }) => tool.function.spec.contentHash === hashOf(1))).toBe(true);
  });

  it('stays open while a call runs in it, and is closed when it was pushed out and left', async () => {
    const held = await take(1);
    for (let edition = 2; edition <= 12; edition += 1) (await take(edition)).release();
    for (let edition = 14; edition <= 90; edition += 1) if (edition !== 50) (await take(edition)).release();
    await settled();
    expect(closed).not.toContain(1);
    expect(closed.length).toBeGreaterThan(0);
    expect(prepared.length - closed.length).toBeLessThanOrEqual(64);
    held.release();
    versions.close();
    await settled();
    expect(new Set(closed)).toEqual(new Set(prepared));
    expect(closed).toHaveLength(prepared.length);
  });

  it('in use at the end is closed when its call has left it', async () => {
    const held = await take(1);
    versions.close();
    await settled();
    expect(closed).toEqual([]);
    held.release();
    await settled();
    expect(closed).toEqual([1]);
  });

  it('is built anew with a connection that has changed, and the old one closed', async () => {
    (await take(50)).release();
    (await take(50)).release();
    expect(prepared).toEqual([50]);
    connections = new Map([['one', { name: 'one', type: 'box', settings: { url: 'new' } }]]);
    (await take(50)).release();
    await settled();
    expect(prepared).toEqual([50, 50]);
    expect(closed).toEqual([50]);
    connections = new Map();
    expect(await reasonOf(50)).toBe('VERSION_GONE');
  });

  it('is built anew when its code has changed', async () => {
    (await take(1)).release();
    stale.add(1);
    (await take(1)).release();
    expect(prepared).toEqual([1]);
    await clock.advance(2_000);
    (await take(1)).release();
    expect(prepared).toEqual([1, 1]);
  });

  it('is built anew under another policy', async () => {
    (await take(1)).release();
    inForce = functionInForce(1_001);
    (await take(1)).release();
    expect(prepared).toEqual([1, 1]);
  });

  it('that cannot be built is not tried by every call, and tried again later', async () => {
    expect(await reasonOf(13)).toBe('VERSION_GONE');
    expect(await reasonOf(13)).toBe('VERSION_GONE');
    expect(lookups).toBe(1);
    await clock.advance(2_000);
    expect(await reasonOf(13)).toBe('VERSION_GONE');
    expect(lookups).toBe(2);
  });

  it('is found by its name for a while without asking', async () => {
    for (let count = 0; count < 5; count += 1) (await versions.take(inForce, '7.0.0')).release();
    expect(lookups).toBe(1);
    await clock.advance(5_001);
    (await versions.take(inForce, '7.0.0')).release();
    expect(lookups).toBe(2);
    expect(prepared).toEqual([7]);
  });
});

it('whoever guesses versions does not take everything: only so many are looked for at once', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  hold = promise;
  const guesses = Array.from({ length: 40 }, (_, at) => reasonOf(1_000 + at));
  await settled();
  expect(lookups).toBe(32);
  resolve();
  const reasons = await Promise.all(guesses);
  expect(reasons.filter((reason) => reason === 'VERSIONS_BUSY')).toHaveLength(8);
  expect(reasons.filter((reason) => reason === 'VERSION_GONE')).toHaveLength(32);
});
