// Specs of HandlerFiles, on real files.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HandlerFiles } from './handler-files.ts';
import { optionsSchema } from './options.ts';

let dir: string;
const options = (trusted = false) => optionsSchema.parse({ handler: './h.js', ...(trusted && { trusted }) });
const write = (text: string) => writeFileSync(join(dir, 'h.js'), text);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-handlers-'));
  write('export const execute = () => 1;');
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

describe('HandlerFiles', () => {
  it('reads a file once for the tools of one load', async () => {
    const files = new HandlerFiles();
    const [one, other] = await Promise.all([files.read(options(), dir), files.read(options(), dir)]);
    expect(other).toBe(one);
    expect(await files.read(options(), dir)).toBe(one);
    expect(await files.read(options(true), dir)).not.toBe(one);
  });

  it('a later load gets what the file has become, and the same where it has not changed', async () => {
    const files = new HandlerFiles();
    const one = await files.read(options(), dir);
    expect(await files.read(options(), dir)).toBe(one);
    write('export const execute = () => 22;');
    expect((await files.read(options(), dir)).text).toContain('22');
  });

  it('a file that is missing is asked for again', async () => {
    const files = new HandlerFiles();
    rmSync(join(dir, 'h.js'));
    await expect(files.read(options(), dir)).rejects.toThrow('there is no file "./h.js"');
    write('export const execute = () => 3;');
    expect((await files.read(options(), dir)).text).toContain('3');
  });
});
