// What a hostile value may take of the heap while it is refused: in a process of its own, since a heap is everybody's in it.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

/** Enough for the validator. The errors of all items, ten million, would take far more, and end the process. */
const LIMIT = ['--max-old-space-size=100', '--max-semi-space-size=16'];
const PROGRAM = resolve(import.meta.dirname, '../helpers/heap-of-validator.ts');

it('a hostile value of many errors is refused without piling them up', () => {
  const { status, stdout } = spawnSync(process.execPath, [...LIMIT, PROGRAM], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '20' });
});
