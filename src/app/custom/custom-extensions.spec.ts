// An operator's own extensions: imported from a path, given what they need, refused in words when they are not one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callOf, echoNext, through } from '../../../test/helpers/call-kit.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { refusalOf } from '../../core/settle.ts';
import { loadCustomExtensions } from './custom-extensions.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-custom-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

let modules = 0;

/** Node keeps a module that it has imported once: each is a file of its own. */
function moduleOf(text: string): string {
  modules += 1;
  const path = join(dir, `extension-${modules}.mjs`);
  writeFileSync(path, text);
  return path;
}

const load = async (text: string, priority?: number) =>
  (await loadCustomExtensions([{ path: moduleOf(text), priority }])).custom;
const refusalsOf = async (...paths: string[]) =>
  (await loadCustomExtensions(paths.map((path) => ({ path })))).problems;

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
    ['a plugin of nothing', 'export const plugin = () => null;', 'must return {name, summary, create'],
    [
      'a name that throws',
      "export const plugin = () => ({ get name() { throw new Error('boom'); } });",
      ': boom',
    ],
    [
      'an error that cannot be read',
      "export const plugin = () => ({ get name() { throw new Proxy(new Error('q'), { get() { throw 1; } }); } });",
      'it threw what cannot be read',
    ],
    [
      'a function that throws',
      "export const plugin = () => { throw new Error('boom'); };",
      'cannot be made: Error: boom',
    ],
    ['code that throws', "throw new Error('boom');", 'cannot be imported: Error: boom'],
  ])('refuses %s, naming the file', async (_what, text, message) => {
    const refused = await refusalsOf(moduleOf(text));
    expect(refused).toMatchObject([{ index: 0, message: expect.stringContaining(message) }]);
    expect(refused[0]?.message).toContain(join(dir, 'extension-'));
  });

  it('stands where gateway.yaml says, else where the module says', async () => {
    const text = `export const plugin = () => ({ name: 'mine', summary: 'Mine.', priority: 3, create: () => ({}) });`;
    const priorityAt = async (priority?: number) => (await load(text, priority))[0]?.priority;
    expect([await priorityAt(), await priorityAt(0), await priorityAt(7)]).toEqual([3, 0, 7]);
  });

  it('a name that an extension of the gateway has is refused, and one that another custom extension has', async () => {
    const named = (name: string) =>
      `export const plugin = () => ({ name: '${name}', summary: 'Mine.', create: () => ({}) });`;
    const mine = moduleOf(named('mine'));
    expect(await refusalsOf(moduleOf(named('audit')), mine, mine)).toMatchObject([
      {
        index: 0,
        message: expect.stringMatching(
          /\.mjs: the name "audit" is taken already: it is an extension of the gateway/,
        ),
      },
      {
        index: 2,
        message: expect.stringMatching(/the name "mine" is taken already: it is the custom extension \//),
      },
    ]);
  });

  describe('what create gets and gives', () => {
    const PORTS = { clock: 'the clock', log: 'the log' } as never;
    const made = async (parts: string) => {
      const [loaded] = await load(
        `const whole = { stage: 'tool', onFailure: 'deny', prepare: () => undefined };
        export const plugin = () => ({ name: 'mine', summary: 'Mine.', ${parts} });`,
      );
      return loaded?.plugin.create(PORTS);
    };

    it('gets the ports that it names, and no other at run time', async () => {
      const keys = `create: (ports) => ({ ...whole, keys: Object.keys(ports), clock: ports.clock })`;
      expect(await made(`needs: ['clock'], ${keys}`)).toMatchObject({ keys: ['clock'], clock: 'the clock' });
      await expect(made(keys)).rejects.toThrow(
        /create\(\) reads the port "clock" without naming it: add needs: \['clock'\]/,
      );
    });

    it('a class with hooks is an extension: it may change the call, see every answer and hear of refusals', async () => {
      const extension = await made(`create: () => new (class {
        onFailure = 'continue';
        #seen = [];
        before_execute(call, { tag }) { return { ...call, arguments: { tag } }; }
        on_error(call, response) { this.#seen.push(response.error.reason); }
        after_execute(call, response) { return { ...response, seen: [...this.#seen, response.ok] }; }
      })()`);
      if (extension === undefined) throw new Error('nothing was made');
      const { calls, next } = echoNext();
      expect(await through(extension, callOf(), next, { tag: 'a' })).toMatchObject({ seen: [true] });
      expect(calls[0]?.arguments).toEqual({ tag: 'a' });
      const refusing = (call: ToolCall) =>
        Promise.resolve(refusalOf(call, new ToolFailure('TIMEOUT', 'Late.')));
      expect(await through(extension, callOf(), refusing, {})).toMatchObject({ seen: ['TIMEOUT', false] });
      expect(extension).toMatchObject({ stage: 'tool', onFailure: 'continue' });
    });

    it('a port that is none is refused, and what was probably meant is said', async () => {
      await expect(made(`needs: ['clok'], create: () => whole`)).rejects.toThrow(
        /needs: there is no port "clok"; did you mean "clock"\? Known: clock, log/,
      );
    });

    it('what is no extension is refused at the start, part by part', async () => {
      const refused = made(`create: () => ({ stage: 'tools', onFailure: 'deny', around: () => undefined })`);
      await expect(refused).rejects.toThrow(
        /\.mjs: create\(\) returns stage: expected 'request' or 'tool'; prepare: expected a function/,
      );
    });
  });

  it('a file that is not there is named', async () => {
    const path = join(dir, 'none.mjs');
    expect(await refusalsOf(path)).toMatchObject([
      { message: expect.stringContaining(`custom extension ${path} cannot be imported`) },
    ]);
  });
});
