// Loading one by one: what is right is loaded, and what is wrong with each of the others names its module and its place in the list.
import { expect, it } from 'vitest';
import { loadEach } from './load-each.ts';

const entries = ['a', 'b', 'c'].map((name) => ({ path: `/own/${name}.mjs` }));
const unreadable = new Proxy(new Error('q'), {
  get() {
    throw new Error('not this either');
  },
});

it('keeps what is loaded with its place, whatever became of the others', async () => {
  const { modules, problems } = await loadEach(entries, async ({ path }) => {
    if (path === '/own/b.mjs') throw new Error(`${path} is empty`);
    return path.length;
  });
  expect(modules).toEqual([
    { entry: entries[0], index: 0, module: 10 },
    { entry: entries[2], index: 2, module: 10 },
  ]);
  expect(problems).toEqual([{ index: 1, message: '/own/b.mjs is empty' }]);
});

it.each([
  ['an error that does not name the module', new Error('boom'), '/own/a.mjs: boom'],
  ['nothing', undefined, '/own/a.mjs: undefined'],
  ['an error that cannot be read', unreadable, '/own/a.mjs: it threw what cannot be read'],
])('names the module that throws %s', async (_what, thrown, message) => {
  const { problems } = await loadEach(entries.slice(0, 1), () => Promise.reject(thrown as Error));
  expect(problems).toEqual([{ index: 0, message }]);
});

it('names the module that is never done, and waits for no more', async () => {
  const load = ({ path }: { path: string }) =>
    path === '/own/b.mjs' ? new Promise<string>(() => undefined) : Promise.resolve(path);
  const { modules, problems } = await loadEach(entries, load, 5);
  expect(modules.map(({ index }) => index)).toEqual([0, 2]);
  expect(problems).toEqual([{ index: 1, message: '/own/b.mjs: it took longer than 5 ms' }]);
});
