// The lock of a data directory: one process has it, also of several that start at once over what a dead one left.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DataDirInUse, lockDataDir } from './data-dir-lock.ts';

const ROUNDS = 400;
const RACER = new URL('../../../test/helpers/lock-racer.ts', import.meta.url);

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'ute-lock-'))));
afterEach(() => rmSync(dir, { recursive: true }));

function deadProcess(): string {
  const { pid } = spawnSync(process.execPath, ['--version']);
  return `${pid} 1\n`;
}

it.each(['what a dead process left', 'nothing'])(
  'of two that start at the same moment over %s, one has it',
  async (over) => {
    const paths = [...Array(ROUNDS).keys()].map((index) => join(dir, `data-${index}`));
    const left = deadProcess();
    if (over !== 'nothing') for (const path of paths) writeFileSync(`${path}.lock`, left);
    const counters = () => new Int32Array(new SharedArrayBuffer(ROUNDS * Int32Array.BYTES_PER_ELEMENT));
    const taken = counters();
    const workerData = { paths, arrived: counters(), taken };
    const ended = [1, 2].map(() => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      new Worker(RACER, { workerData }).once('error', reject).once('exit', () => resolve());
      return promise;
    });
    await Promise.all(ended);
    expect([...taken].filter((count) => count !== 1)).toEqual([]);
    expect(readdirSync(dir)).toHaveLength(ROUNDS);
  },
);

it('is refused while a living process has it, and free when that gives it back', () => {
  const unlock = lockDataDir(join(dir, 'data'));
  expect(() => lockDataDir(join(dir, 'data'))).toThrow(DataDirInUse);
  unlock();
  lockDataDir(join(dir, 'data'))();
  expect(readdirSync(dir)).toEqual([]);
});

it('of a process that died while it made it, or while it removed one of a dead process, is taken', () => {
  const lock = join(dir, 'data.lock');
  writeFileSync(lock, '');
  lockDataDir(join(dir, 'data'))();
  writeFileSync(lock, deadProcess());
  writeFileSync(`${lock}.removing`, deadProcess());
  lockDataDir(join(dir, 'data'))();
  expect(readdirSync(dir)).toEqual([]);
});
