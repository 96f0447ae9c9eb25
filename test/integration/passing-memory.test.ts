// What things leave in the heap that come and go: in a process of its own, since a heap is everybody's in it.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

/** One thread collects, and in a half of a size of its own: what is kept does not depend on how busy the machine is. */
const FLAGS = ['--expose-gc', '--single-threaded-gc', '--min-semi-space-size=16'];
const PROGRAM = resolve(import.meta.dirname, '../helpers/heap-of-passing.ts');

interface Said {
  readonly thing: number;
  readonly left: Readonly<Record<'openCalls' | 'passingMap' | 'map', number>>;
}

it('keeps little of calls and entries that have ended, without a full collection, where a Map keeps all', () => {
  const said = execFileSync(process.execPath, [...FLAGS, PROGRAM], { encoding: 'utf8' });
  const { thing, left } = JSON.parse(said) as Said;
  expect(left.openCalls).toBeLessThan(thing / 4);
  expect(left.passingMap).toBeLessThan(thing / 4);
  // What both are there for: once this fails, V8 has found a better way, and a Map will do.
  expect(left.map).toBeGreaterThan(2 * left.passingMap);
});
