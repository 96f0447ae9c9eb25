// ToolSpecRegistry: calls keep the set they began with, and what only superseded sets used is closed in order.
import { hash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { specOf, compiledOf } from '../../test/helpers/call-kit.ts';
import { functionsOf } from '../contract/tool/tool-function.ts';
import type { RegistrySnapshot } from '../contract/tool/registry-snapshot.ts';
import { makingSnapshot, snapshotOf, ToolSpecRegistry } from './tool-spec-registry.ts';

function setOf(...names: string[]): RegistrySnapshot {
  const specs = names.map((name) => specOf({ name, contentHash: `hash of ${name}` }));
  return snapshotOf(specs, specs.flatMap(functionsOf).map(compiledOf));
}

describe('snapshotOf', () => {
  it('gives one version for one content, in any order, and another for another', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 8 });
    const twoOrders = names.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(twoOrders, ([one, other]) => {
        expect(setOf(...one).version).toBe(setOf(...other).version);
        expect(setOf(...one, 'another_one').version).not.toBe(setOf(...one).version);
      }),
    );
    expect(setOf('a').version).toMatch(/^1\.0\.[0-9a-f]{8}$/);
  });

  it('finds a function by its own name and by its provider spelling; own names win', () => {
    const parameters = [] as const;
    const calendar = specOf({
      name: 'calendar',
      actions: [{ name: 'list', description: 'Lists', parameters }],
    });
    const impostor = specOf({ name: 'calendar__list' });
    const alone = snapshotOf([calendar], functionsOf(calendar).map(compiledOf));
    expect(alone.find('calendar.list')?.function.name).toBe('calendar.list');
    expect(alone.find('calendar__list')?.function.name).toBe('calendar.list');
    expect(alone.providerName('calendar.list')).toBe('calendar__list');
    expect(alone.find('calendar')).toBeUndefined();
    const both = snapshotOf(
      [calendar, impostor],
      [...functionsOf(calendar), ...functionsOf(impostor)].map(compiledOf),
    );
    expect(both.find('calendar__list')?.function.name).toBe('calendar__list');
    const spellings = both.functions.map(({ name }) => both.providerName(name));
    expect(new Set(spellings).size).toBe(2);
  });

  it('is versioned by the sorted names and hashes of its tools, as every replica and version before it does', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9_.-]{1,6}$/), { minLength: 1 });
    fc.assert(
      fc.property(names, (list) => {
        const lines = list.map((name) => `${name} hash of ${name}`).toSorted();
        expect(setOf(...list).contentHash).toBe(hash('sha256', lines.join('\n')));
      }),
    );
  });

  it.each(['tool_', 'tools.of_'])('of 10,000 tools is made in slices: %s', (named) => {
    let looked = 0;
    const specs = Array.from({ length: 10_000 }, (_, at) => {
      const spec = specOf({ name: `${named}${at}` });
      // Whatever looks at a tool asks what it is called, or what is in it.
      return Object.defineProperties(spec, {
        contentHash: { get: () => `${(looked += 1)}` },
        canary: { get: () => void (looked += 1) },
      });
    });
    const tools = specs.flatMap(functionsOf).map((fn) => {
      const compiled = compiledOf(fn);
      return Object.defineProperty({ ...compiled }, 'function', { get: () => ((looked += 1), fn) });
    });
    looked = 0;
    let most = 0;
    let slices = 0;
    const making = makingSnapshot(specs, tools);
    for (let before = 0; making.next().done !== true; before = looked, slices += 1)
      most = Math.max(most, looked - before);
    expect(looked).toBeGreaterThanOrEqual(30_000);
    expect(most).toBeLessThanOrEqual(1_024);
    // What is named otherwise for providers is looked at once more.
    expect(slices).toBeGreaterThan(150);
  });

  it('lists functions by name', () => {
    expect(setOf('b', 'c', 'a').functions.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });
});

describe('ToolSpecRegistry', () => {
  it('closes what a set retired only after the last call that began with it', () => {
    const registry = new ToolSpecRegistry();
    const closed: string[] = [];
    registry.publish(setOf('a'));
    const [one, two] = [registry.enter(), registry.enter()];
    registry.publish(setOf('b'), () => closed.push('a'));
    expect(registry.snapshot().find('b')).toBeDefined();
    expect(one.find('a')).toBeDefined();
    registry.leave(one);
    expect(closed).toEqual([]);
    registry.leave(two);
    expect(closed).toEqual(['a']);
  });

  it('closes oldest first: a newer set that is idle waits for an older one in use', () => {
    const registry = new ToolSpecRegistry();
    const closed: string[] = [];
    registry.publish(setOf('a'));
    const old = registry.enter();
    registry.publish(setOf('b'), () => closed.push('a'));
    registry.publish(setOf('c'), () => closed.push('b'));
    expect(closed).toEqual([]);
    registry.leave(old);
    expect(closed).toEqual(['a', 'b']);
  });

  it('closes at once what no call used', () => {
    const registry = new ToolSpecRegistry();
    const closed: string[] = [];
    registry.publish(setOf('a'));
    registry.publish(setOf('b'), () => closed.push('a'));
    expect(closed).toEqual(['a']);
  });

  it('whatever the order of calls and reloads, each set is closed once, in order, and never under a call', () => {
    const step = fc.constantFrom('enter', 'leave', 'publish');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const registry = new ToolSpecRegistry();
        const running: { snapshot: RegistrySnapshot; generation: number }[] = [];
        const closed: number[] = [];
        let generation = 0;
        for (const each of steps) {
          if (each === 'enter') running.push({ snapshot: registry.enter(), generation });
          else if (each === 'leave') registry.leave((running.shift() ?? { snapshot: setOf() }).snapshot);
          else {
            const retiring = generation++;
            registry.publish(setOf(`t${generation}`), () => closed.push(retiring));
          }
          const oldest = Math.min(generation, ...running.map((call) => call.generation));
          expect(closed).toEqual(Array.from({ length: oldest }, (_, index) => index));
        }
      }),
    );
  });

  it('tells listeners of each set and of the kill switch, until they stop listening', () => {
    const registry = new ToolSpecRegistry();
    const told: string[] = [];
    const stop = registry.onChange(({ version }) => told.push(version));
    const set = setOf('a');
    registry.publish(set);
    expect(registry.setDisabled('a', true)).toBe(true);
    stop();
    registry.setDisabled('a', false);
    expect(told).toEqual([set.version, set.version]);
  });

  it('keeps a tool off through a reload, and knows no switch for a tool that is not there', () => {
    const registry = new ToolSpecRegistry();
    registry.publish(setOf('a'));
    registry.setDisabled('a', true);
    registry.publish(setOf('a', 'b'));
    expect(registry.isDisabled('a')).toBe(true);
    expect(registry.isDisabled('b')).toBe(false);
    expect(registry.setDisabled('nobody', true)).toBe(false);
  });
});
