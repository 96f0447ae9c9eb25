import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CompiledProgram } from './compiled-program.ts';

let dir: string;

beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'ute-compiled-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function chunk(name: string, code: string): void {
  writeFileSync(join(dir, name), code);
}

const answerOf = (program: CompiledProgram) => (program.load('main.cjs') as { answer(): unknown }).answer();

function keptFiles(): readonly string[] {
  const folder = join(dir, '.compile-cache');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

async function keptOnce(): Promise<string> {
  const program = new CompiledProgram(dir);
  answerOf(program);
  await program.keep();
  const path = keptFiles().find((file) => basename(file) === 'main.cjs') ?? '';
  // Long ago: whoever writes it again is seen.
  utimesSync(path, 1, 1);
  return path;
}

const wasKeptAgain = async (path: string, program: CompiledProgram) => {
  await program.keep();
  return statSync(path).mtimeMs !== 1_000;
};

describe('a program of chunks', () => {
  it('takes other chunks, parts of Node and packages, each once, and imports what lies elsewhere', async () => {
    chunk('main.cjs', "exports.other = require('./other.cjs'); exports.join = require('node:path').join;");
    chunk('other.cjs', "exports.main = require('./main.cjs'); exports.imported = __import('node:path');");
    const program = new CompiledProgram(dir);
    const main = program.load('main.cjs') as {
      other: { main: unknown; imported: Promise<unknown> };
      join: unknown;
    };
    expect(main.other.main).toBe(main);
    expect(program.load('other.cjs')).toBe(main.other);
    expect(main.join).toBe(join);
    expect(await main.other.imported).toMatchObject({ join });
  });

  it('names files and lines as they are, also those from what was kept', async () => {
    chunk('main.cjs', '"use strict";\nexports.answer = () =>\n  new Error("here").stack;\n');
    await keptOnce();
    expect(answerOf(new CompiledProgram(dir))).toContain(`${join(dir, 'main.cjs')}:3:`);
  });

  it('a chunk that fails tells why', () => {
    chunk('main.cjs', 'throw new Error("no");');
    expect(() => new CompiledProgram(dir).load('main.cjs')).toThrow('no');
  });
});

describe('what was compiled', () => {
  const ONE = 'exports.answer = () => "one";';

  it('is used by later starts as it is, and is for the user of the gateway alone', async () => {
    chunk('main.cjs', ONE);
    const path = await keptOnce();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const program = new CompiledProgram(dir);
    expect(answerOf(program)).toBe('one');
    expect(await wasKeptAgain(path, program)).toBe(false);
    expect(keptFiles()).toEqual([path]);
  });

  it('is not used for another source, be it of the same length', async () => {
    chunk('main.cjs', ONE);
    const path = await keptOnce();
    chunk('main.cjs', ONE.replace('one', 'two'));
    const program = new CompiledProgram(dir);
    expect(answerOf(program)).toBe('two');
    expect(await wasKeptAgain(path, program)).toBe(true);
    expect(answerOf(new CompiledProgram(dir))).toBe('two');
  });

  it.each<[string, (data: Buffer) => Buffer]>([
    ['is empty', () => Buffer.alloc(0)],
    ['is cut off', (data) => data.subarray(0, data.length - 9)],
    [
      'has other bytes in its middle',
      (data) => Buffer.from(data.map((byte, at) => (at === 90 ? byte ^ 1 : byte))),
    ],
    ['is of another V8', (data) => Buffer.concat([data.subarray(0, 8), Buffer.alloc(data.length - 8)])],
  ])('is not used where the file %s, and is made anew', async (_what, damage) => {
    chunk('main.cjs', ONE);
    const path = await keptOnce();
    writeFileSync(path, damage(readFileSync(path)));
    utimesSync(path, 1, 1);
    const program = new CompiledProgram(dir);
    expect(answerOf(program)).toBe('one');
    expect(await wasKeptAgain(path, program)).toBe(true);
  });

  it('is done without where it cannot be written', async () => {
    chunk('main.cjs', ONE);
    writeFileSync(join(dir, '.compile-cache'), '');
    const program = new CompiledProgram(dir);
    await program.keep();
    expect(answerOf(program)).toBe('one');
    await expect(program.keep()).resolves.toBeUndefined();
  });

  it.each([
    [
      'is kept at the end of the process, where it was loaded after the start',
      true,
      ['late.cjs', 'run-process.cjs'],
    ],
    ['is not kept of a start that failed: little of it ran', false, []],
  ])('%s', (_what, hasStarted, files) => {
    chunk(
      'run-process.cjs',
      `exports.onceStarted = async (task) => {
      if (${hasStarted}) await task();
      require("./late.cjs");
      process.exit(3);
    };`,
    );
    chunk('late.cjs', '');
    const url = new URL('./load-program.ts', import.meta.url).href;
    const code = `(await import(${JSON.stringify(url)})).loadProgram(${JSON.stringify(dir)});`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 3, stderr: '' });
    const kept = hasStarted
      ? keptFiles().map((path) => basename(path))
      : readdirSync(dir).filter((name) => name === '.compile-cache');
    expect(kept.toSorted()).toEqual(files);
  });
});
