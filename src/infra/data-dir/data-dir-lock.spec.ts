// The lock of a data directory: one process has it, and nobody whose process is dead.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DataDirInUse, lockDataDir } from './data-dir-lock.ts';

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'ute-lock-'))));
afterEach(() => rmSync(dir, { recursive: true }));

function deadProcess(): string {
  const { pid } = spawnSync(process.execPath, ['--version']);
  return `${pid} 1\n`;
}

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
