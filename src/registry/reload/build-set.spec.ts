// buildSet: what did not change is taken as it was built before, and one tool that cannot be built keeps no other from being.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compiledOf, looksOnly, specOf } from '../../../test/helpers/call-kit.ts';
import type { Connection, Executor, PreparedFunction } from '../../contract/plugin.ts';
import type { Ready } from '../compile-built.ts';
import type { CheckedTool } from '../spec-rules.ts';
import { buildSet, connectionOf } from './build-set.ts';

const locate = () => ({ file: '/tools/tools.yaml', line: 7, column: 3 });

function checkedOf(
  name: string,
  { options = 'good', over, dispensable }: { options?: string; over?: string; dispensable?: true } = {},
): CheckedTool {
  return {
    spec: specOf({ name }),
    options,
    extensionOptions: {},
    ...(over !== undefined && { connectionName: over }),
    declaration: {
      value: {},
      contentHash: name,
      baseDir: '/tools',
      locate,
      ...(dispensable && { dispensable }),
    },
  };
}

const connected = (name: string): Connection => ({ name, type: 'http', settings: {} });
const all = (...connections: Connection[]) => new Map(connections.map((each) => [each.name, each]));

/** An executor that writes down what it prepares. `isStale` is what each of its functions says of itself. */
function kit(isStale?: PreparedFunction['isStale']) {
  const prepared: string[] = [];
  const executor: Executor<unknown> = {
    prepare: async ({ function: fn, options }) => {
      await Promise.resolve();
      if (options === 'bad') throw new Error(`${fn.name} cannot be prepared`);
      prepared.push(fn.name);
      return { execute: async () => ({ data: null }), ...(isStale && { isStale }) };
    },
  };
  const builders = { executors: new Map([['test', executor]]), compiler: looksOnly };
  const build = (
    tools: readonly CheckedTool[],
    connections: ReadonlyMap<string, Connection> = all(),
    known: ReadonlyMap<string, Ready> = new Map(),
  ) => buildSet({ tools, connections, known }, builders);
  return { prepared, builders, build };
}

describe('a tool that was built before', () => {
  it('is the same one again, and nothing of it is prepared', async () => {
    const { build, prepared } = kit();
    const [tool, connections] = [checkedOf('a', { over: 'x' }), all(connected('x'))];
    const first = await build([tool], connections);
    const again = await build([tool], connections, first.ready);
    expect(again.ready.get('a')).toBe(first.ready.get('a'));
    expect(prepared).toEqual(['a']);
  });

  it.each<[string, CheckedTool, ReadonlyMap<string, Connection>]>([
    ['its declaration', checkedOf('a', { over: 'x' }), all(connected('x'))],
    ['its connection, by the same name', checkedOf('a', { over: 'x' }), all(connected('x'))],
    ['a connection that is gone', checkedOf('a', { over: 'x' }), all()],
  ])('is built anew for %s', async (what, other, connections) => {
    const { build, prepared } = kit();
    const tool = checkedOf('a', { over: 'x' });
    const first = await build([tool], all(connected('x')));
    const second = await build([what === 'its declaration' ? other : tool], connections, first.ready);
    expect(second.ready.get('a')).not.toBe(first.ready.get('a'));
    expect(second.ready.get('a')?.connection).toBe(connections.get('x'));
    expect(prepared).toEqual(['a', 'a']);
  });

  it('is built anew where its code has changed, and kept where that cannot be told', async () => {
    const changed = kit(() => true);
    const tool = checkedOf('a');
    const first = await changed.build([tool]);
    expect((await changed.build([tool], all(), first.ready)).ready.get('a')).not.toBe(first.ready.get('a'));
    const unknown = kit(() => Promise.reject(new Error('the disk is away')));
    const before = await unknown.build([tool]);
    expect((await unknown.build([tool], all(), before.ready)).ready.get('a')).toBe(before.ready.get('a'));
  });
});

describe('a tool that cannot be built', () => {
  it('is among those that failed, with its place, and the others are ready', async () => {
    const { build, prepared } = kit();
    const { ready, failed, leftOut } = await build([
      checkedOf('a'),
      checkedOf('b', { options: 'bad' }),
      checkedOf('c'),
    ]);
    expect(failed).toEqual([
      { ...locate(), tool: 'b', path: 'implementation_config', message: 'b cannot be prepared' },
    ]);
    // What was prepared of it is closed by whoever has the set.
    expect([...ready.keys()].toSorted()).toEqual(['a', 'b', 'c']);
    expect(ready.get('b')?.tools).toEqual([]);
    expect([leftOut, prepared]).toEqual([[], ['a', 'c']]);
  });

  it('and may be left out is so, and is no failure of the set', async () => {
    const { build } = kit();
    const { ready, failed, leftOut } = await build([
      checkedOf('a'),
      checkedOf('b', { options: 'bad', dispensable: true }),
    ]);
    expect([[...ready.keys()], failed]).toEqual([['a'], []]);
    expect(leftOut.map(({ checked, problem }) => [checked.spec.name, problem?.message])).toEqual([
      ['b', 'b cannot be prepared'],
    ]);
  });

  it('is one that an extension refuses, too', async () => {
    const { builders } = kit();
    const compiler = {
      ...looksOnly,
      compile: (fn: Parameters<typeof compiledOf>[0]) => {
        if (fn.name === 'b') throw new Error('opens at 25:00');
        return compiledOf(fn);
      },
    };
    const set = { tools: [checkedOf('a'), checkedOf('b')], connections: all(), known: new Map() };
    const { ready, failed } = await buildSet(set, { ...builders, compiler });
    expect(failed).toMatchObject([{ tool: 'b', path: 'extensions', message: 'opens at 25:00' }]);
    expect(ready.get('a')?.tools).toHaveLength(1);
  });
});

it('whatever changes from set to set, only what changed is prepared, and each tool is there once', async () => {
  const edition = fc.constantFrom('gone', 'v1', 'v2', 'bad', 'left out');
  const names = ['a', 'b', 'c', 'd'];
  const sets = fc.array(fc.tuple(edition, edition, edition, edition), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(sets, async (steps) => {
      const { build, prepared } = kit();
      const declared = new Map<string, CheckedTool>();
      let [known, inForce]: [ReadonlyMap<string, Ready>, string[]] = [new Map(), []];
      for (const editions of steps) {
        const tools = names.flatMap((name, index) => {
          const said = editions[index] ?? 'gone';
          if (said === 'gone') return [];
          const isLeft = said === 'left out';
          const options = isLeft ? 'bad' : said;
          const made =
            declared.get(`${name} ${said}`) ??
            checkedOf(name, { options, ...(isLeft && { dispensable: true }) });
          declared.set(`${name} ${said}`, made);
          return [made];
        });
        prepared.length = 0;
        const { ready, failed, leftOut } = await build(tools, all(), known);
        const now = names.map((name, index) => `${name} ${editions[index]}`);
        const isGood = (each: string) => /v1|v2/.test(each);
        const fresh = now
          .filter((each) => isGood(each) && !inForce.includes(each))
          .map((each) => each.slice(0, 1));
        expect(prepared.toSorted()).toEqual(fresh);
        expect(failed).toHaveLength(now.filter((each) => each.endsWith('bad')).length);
        expect(leftOut).toHaveLength(now.filter((each) => each.endsWith('left out')).length);
        expect([...ready.keys()].toSorted()).toEqual(
          now.filter((each) => !/gone|left out/.test(each)).map((each) => each.slice(0, 1)),
        );
        // A set with failures is not taken: the one before stays in force.
        if (failed.length === 0) [known, inForce] = [ready, now];
      }
    }),
    { numRuns: 60 },
  );
});

it('a tool runs over the connection that it names, or over none', () => {
  const connections = all(connected('x'));
  expect(connectionOf(checkedOf('a', { over: 'x' }), connections)).toBe(connections.get('x'));
  expect(connectionOf(checkedOf('a', { over: 'y' }), connections)).toBe(undefined);
  expect(connectionOf(checkedOf('a'), connections)).toBe(undefined);
});
