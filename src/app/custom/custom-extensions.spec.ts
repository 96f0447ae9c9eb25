// An operator's own extensions: imported from a path, given what they need, refused in words when they are not one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadCustomExtensions } from './custom-extensions.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-custom-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

function moduleOf(text: string): string {
  const path = join(dir, 'extension.mjs');
  writeFileSync(path, text);
  return path;
}

const load = (text: string, priority = 0) => loadCustomExtensions([{ path: moduleOf(text), priority }]);

describe('loadCustomExtensions', () => {
  it('gives the module the api, and takes its plugin with the priority of gateway.yaml', async () => {
    const [loaded] = await load(
      `export const plugin = ({ fromHooks, ToolFailure, z }) => ({
        name: 'mine', summary: [typeof fromHooks, typeof ToolFailure, typeof z.strictObject].join(), create: () => ({}),
        optionsSchema: z.strictObject({ loud: z.boolean() }),
      });`,
      7,
    );
    expect(loaded).toMatchObject({
      priority: 7,
      plugin: { name: 'mine', summary: 'function,function,function' },
    });
    expect(loaded?.plugin.optionsSchema.safeParse({ loud: 1 }).success).toBe(false);
  });

  it('an extension without a schema takes no options', async () => {
    const [loaded] = await load(
      `export const plugin = () => ({ name: 'mine', summary: 'Mine.', create: () => ({}) });`,
    );
    expect(loaded?.plugin.optionsSchema.safeParse({}).success).toBe(true);
    expect(loaded?.plugin.optionsSchema.safeParse({ any: 1 }).success).toBe(false);
  });

  it.each([
    ['no plugin', 'export const other = 1;', 'must export a function `plugin`'],
    ['a plugin that is no function', 'export const plugin = {};', 'must export a function `plugin`'],
    [
      'a plugin without create',
      "export const plugin = () => ({ name: 'a', summary: 'b' });",
      'must return {name, summary, create',
    ],
    ['code that throws', "throw new Error('boom');", 'cannot be imported: Error: boom'],
  ])('refuses %s, naming the file', async (_what, text, message) => {
    const refused: unknown = await load(text).catch((error: unknown) => error);
    expect(String(refused)).toContain(join(dir, 'extension.mjs'));
    expect(String(refused)).toContain(message);
  });

  it('a file that is not there is named', async () => {
    const path = join(dir, 'none.mjs');
    await expect(loadCustomExtensions([{ path, priority: 0 }])).rejects.toThrow(
      `custom extension ${path} cannot be imported`,
    );
  });
});
