// makeFolders: makes what is missing, and gives up at once where nothing can be made.
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolders } from './make-folders.ts';

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'ute-make-folders-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

it('makes all that is missing, with the mode, and leaves what is there as it is', () => {
  const dir = folder();
  const before = statSync(dir).mode;
  makeFolders(join(dir, 'a', 'b'), 0o700);
  makeFolders(join(dir, 'a', 'b'), 0o755);
  expect([join(dir, 'a'), join(dir, 'a', 'b')].map((each) => statSync(each).mode & 0o777)).toEqual([
    0o700, 0o700,
  ]);
  expect(statSync(dir).mode).toBe(before);
});

it('gives up where a file stands in the way, in the place or above it, or a link that leads nowhere', () => {
  const dir = folder();
  writeFileSync(join(dir, 'file'), '');
  symlinkSync(join(dir, 'gone'), join(dir, 'link'));
  expect(() => makeFolders(join(dir, 'file'))).toThrow('EEXIST');
  expect(() => makeFolders(join(dir, 'file', 'a', 'b'))).toThrow(/EEXIST|ENOTDIR/);
  expect(() => makeFolders(join(dir, 'link'))).toThrow('EEXIST');
});

it.runIf(process.platform === 'linux')('gives up in a file system that takes no folder', () => {
  expect(() => makeFolders('/proc/ute/data')).toThrow('ENOENT');
});
