// An operator's own executors: imported from a path, given what they need, refused in words when they are not one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadCustomExecutors } from './custom-executors.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-custom-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

function moduleOf(text: string, name = 'executor.mjs'): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

const load = async (text: string) => (await loadCustomExecutors([{ path: moduleOf(text) }])).plugins;
const refusalsOf = async (...paths: string[]) =>
  (await loadCustomExecutors(paths.map((path) => ({ path })))).problems;

const WHOLE = (name = 'mine') => `({ z }) => ({
  name: '${name}', summary: 'Mine.', optionsSchema: z.strictObject({ loud: z.boolean() }),
  create: () => ({ prepare: () => ({ execute: async () => ({ data: 1 }) }) }),
})`;

describe('loadCustomExecutors', () => {
  it.each([
    ['a function named executor', `export const executor = ${WHOLE()};`],
    ['a default export', `export default ${WHOLE()};`],
    [
      'an object',
      `import { z } from '${import.meta.resolve('zod')}';
      export const executor = { name: 'mine', summary: 'Mine.', create: () => ({ prepare() {} }),
        optionsSchema: z.strictObject({ loud: z.boolean() }) };`,
    ],
  ])('takes %s', async (_what, text) => {
    const [loaded] = await load(text);
    expect(loaded).toMatchObject({ name: 'mine', summary: 'Mine.' });
    expect(loaded?.optionsSchema.safeParse({ loud: true }).success).toBe(true);
    expect(loaded?.optionsSchema.safeParse({ loud: 1 }).success).toBe(false);
    expect(loaded?.create({} as never)).toHaveProperty('prepare');
  });

  it('gives a function the api', async () => {
    const [loaded] = await load(
      `export const executor = (api) => ({ ...(${WHOLE()})(api), summary: typeof api.ToolFailure + ' ' + typeof api.z.string });`,
    );
    expect(loaded?.summary).toBe('function function');
  });

  it.each([
    ['no export', 'export const other = 1;', 'expected an export `executor`, or a default export'],
    ['an export that is no plugin', 'export default 7;', 'expected { name, summary, optionsSchema, create }'],
    ['a plugin without parts', 'export default {};', 'name: expected a lower-case word'],
    [
      'a plugin without create',
      'export default ({ z }) => ({ name: "a", summary: "b", optionsSchema: z.any() });',
      'create: expected a function',
    ],
    [
      'a name that YAML could not select',
      `export const executor = ${WHOLE('My Own')};`,
      'name: expected a lower-case word',
    ],
    [
      'the name of a built-in executor',
      `export const executor = ${WHOLE('http')};`,
      'the name "http" is taken already: it is an executor of the gateway',
    ],
    [
      'the alias of a built-in executor',
      `export const executor = ${WHOLE('sandbox')};`,
      'the name "sandbox" is taken already',
    ],
    [
      'connection types that are no schemas',
      `export default (api) => ({ ...(${WHOLE()})(api), connectionTypes: { a: 1 } });`,
      'connectionTypes: expected a map of zod schemas',
    ],
    [
      'a function that throws',
      "export default () => { throw new Error('boom'); };",
      'cannot be made: Error: boom',
    ],
    ['code that throws', "throw new Error('boom');", 'cannot be imported: Error: boom'],
  ])('refuses %s, naming the file', async (_what, text, message) => {
    const refused = await refusalsOf(moduleOf(text));
    expect(refused).toMatchObject([{ index: 0, message: expect.stringContaining(message) }]);
    expect(refused[0]?.message).toContain(join(dir, 'executor.mjs'));
  });

  it('says all that is missing at once', async () => {
    expect(await refusalsOf(moduleOf('export default {};'))).toMatchObject([
      { message: expect.stringMatching(/name: .*summary: .*optionsSchema: .*create: /) },
    ]);
  });

  it('says at once what is wrong with each of several, and takes those that are right', async () => {
    const good = { path: moduleOf(`export const executor = ${WHOLE()};`, 'good.mjs') };
    const bad = ['throw 1;', 'export default 7;'].map((text, at) => ({
      path: moduleOf(text, `bad-${at}.mjs`),
    }));
    const { plugins, problems } = await loadCustomExecutors([...bad, good]);
    expect(plugins.map(({ name }) => name)).toEqual(['mine']);
    expect(problems).toMatchObject([
      { index: 0, message: expect.stringContaining('bad-0.mjs') },
      { index: 1, message: expect.stringContaining('bad-1.mjs') },
    ]);
  });

  it('survives what cannot be read even once it is thrown', async () => {
    const path = moduleOf('throw new Proxy({}, { get() { throw 1; } });', 'odd.mjs');
    expect(await refusalsOf(path)).toMatchObject([
      {
        index: 0,
        message: expect.stringMatching(/odd\.mjs cannot be imported: it threw what cannot be read/),
      },
    ]);
  });

  it('refuses two of one name, naming both', async () => {
    const paths = ['one.mjs', 'two.mjs'].map((name) => moduleOf(`export const executor = ${WHOLE()};`, name));
    expect(await refusalsOf(...paths)).toMatchObject([
      { index: 1, message: expect.stringMatching(/two\.mjs: the name "mine" is taken already: .*one\.mjs/) },
    ]);
  });

  it('refuses a create that makes no executor', async () => {
    const [loaded] = await load(`export default (api) => ({ ...(${WHOLE()})(api), create: () => ({}) });`);
    expect(() => loaded?.create({} as never)).toThrow(
      'create() must return an object with a function prepare',
    );
  });
});
