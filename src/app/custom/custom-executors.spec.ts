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

const load = (text: string) => loadCustomExecutors([{ path: moduleOf(text) }]);

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
    const refused: unknown = await load(text).catch((error: unknown) => error);
    expect(String(refused)).toContain(join(dir, 'executor.mjs'));
    expect(String(refused)).toContain(message);
  });

  it('says all that is missing at once', async () => {
    await expect(load('export default {};')).rejects.toThrow(/name: .*summary: .*optionsSchema: .*create: /);
  });

  it('refuses two of one name, naming both', async () => {
    const paths = ['one.mjs', 'two.mjs'].map((name) => ({
      path: moduleOf(`export const executor = ${WHOLE()};`, name),
    }));
    await expect(loadCustomExecutors(paths)).rejects.toThrow(
      /two\.mjs: the name "mine" is taken already: .*one\.mjs/,
    );
  });

  it('refuses a create that makes no executor', async () => {
    const [loaded] = await load(`export default (api) => ({ ...(${WHOLE()})(api), create: () => ({}) });`);
    expect(() => loaded?.create({} as never)).toThrow(
      'create() must return an object with a function prepare',
    );
  });
});
