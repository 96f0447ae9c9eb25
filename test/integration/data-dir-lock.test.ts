// The lock of a data directory, of two that start at the same moment: threads, which are as apart as processes for files.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';

const ROUNDS = 400;
const RACER = new URL('../helpers/lock-racer.ts', import.meta.url);

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'ute-lock-'))));
afterEach(() => rmSync(dir, { recursive: true }));

it.each(['what a dead process left', 'nothing'])(
  'of two that start at the same moment over %s, one has it',
  async (over) => {
    const paths = [...Array(ROUNDS).keys()].map((index) => join(dir, `data-${index}`));
    const left = `${spawnSync(process.execPath, ['--version']).pid} 1\n`;
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
