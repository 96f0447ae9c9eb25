// Tools that lie in a folder which is closed to everybody else, as a checkout in the home of root is: they run all the
// same, or the operator learns which folder is in the way.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { confiningSpawner, type ConfiningSpawner } from '../helpers/confining-spawner.ts';
import { PythonBench } from '../helpers/python-ports.ts';
import { BUBBLEWRAP, RUNGS } from '../helpers/rungs.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const LOOK = [
  'import os',
  'from pack.inner import VALUE',
  'def helped():',
  '    return VALUE',
  'def read(path):',
  '    try:',
  '        return open(path).read()',
  '    except OSError as error:',
  '        return type(error).__name__',
  'def is_program(path):',
  '    return os.access(path, os.X_OK)',
  'def write(path):',
  '    try:',
  '        open(path, "w")',
  '    except OSError:',
  '        return "refused"',
  '',
].join('\n');

const isRoot = process.getuid?.() === 0;
/** Landlock only takes away: what is closed to the user that tools run as stays closed there. */
const HANDED = RUNGS.filter(([rung]) => rung === 'bubblewrap' || !isRoot);
const REFUSED = RUNGS.filter(([rung]) => rung === 'landlock' && isRoot);

let home: string;
let dir: string;
let spawner: ConfiningSpawner;
let bench: PythonBench;

beforeEach(() => {
  home = tempDir();
  dir = join(home, 'project');
  mkdirSync(join(dir, 'pack'), { recursive: true, mode: 0o755 });
  writeFileSync(join(home, 'secret'), 's3cret', { mode: 0o644 });
  writeFileSync(join(dir, '.env'), 'SECRET=s3cret', { mode: 0o644 });
  writeFileSync(join(dir, 'look.py'), LOOK, { mode: 0o644 });
  writeFileSync(join(dir, 'pack/__init__.py'), '', { mode: 0o644 });
  writeFileSync(join(dir, 'pack/inner.py'), 'VALUE = "helped"\n', { mode: 0o644 });
  writeFileSync(join(dir, 'pack/run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  symlinkSync('../../secret', join(dir, 'pack/link'));
});

afterEach(async () => {
  await bench.executor.close?.();
  await spawner.closeAll();
  removeDir(home);
});

function open(settings: (typeof RUNGS)[number][1]): void {
  spawner = confiningSpawner({ settings });
  bench = new PythonBench(spawner, { modulePaths: [], workers: 1, sandbox: 'required' });
}

const callable = (name: string) => bench.callable(`look.${name}`, { baseDir: dir });

describe.each(HANDED)('on the rung %s', (_rung, settings) => {
  beforeEach(() => open(settings));

  it('a module runs, and so does what it imports', async () => {
    const helped = await callable('helped');
    expect(await helped()).toBe('helped');
  });

  it('nothing else of the folder is there, and nothing can be written', async () => {
    const read = await callable('read');
    for (const name of ['.env', 'pack/link', '../secret'])
      expect(await read({ path: join(dir, name) })).not.toContain('s3cret');
    const write = await callable('write');
    for (const name of ['look.py', 'pack/inner.py', 'pack/new.py', 'new.py'])
      expect(await write({ path: join(dir, name) })).toBe('refused');
  });

  it('a program stays one, and a file that is none does not become one', async () => {
    const isProgram = await callable('is_program');
    expect(await isProgram({ path: join(dir, 'pack/run.sh') })).toBe(true);
    expect(await isProgram({ path: join(dir, 'pack/inner.py') })).toBe(false);
  });

  it('what others may not read is not handed over to them', async () => {
    // Its owner may, where the gateway's own user runs the tools.
    writeFileSync(join(dir, 'pack/private'), 'private', { mode: 0o600 });
    const read = await callable('read');
    expect(await read({ path: join(dir, 'pack/private') })).toBe(isRoot ? 'FileNotFoundError' : 'private');
  });
});

describe.each(REFUSED)('on the rung %s', (_rung, settings) => {
  it('the folder in the way is named, and what opens it', async () => {
    open(settings);
    await expect(callable('helped')).rejects.toThrow(`who may not pass ${home}. Run "chmod o+x ${home}"`);
  });
});

describe.each(BUBBLEWRAP)('on the rung %s alone', (_rung, settings) => {
  it('a large installation runs as its owner; another user’s is not copied: the folder in the way is named', async () => {
    open(settings);
    for (let at = 0; at < 300; at += 1) writeFileSync(join(dir, `pack/part${at}.py`), '', { mode: 0o644 });
    const outcome = await callable('helped').then(
      (helped) => helped(),
      (error: Error) => error.message,
    );
    expect(outcome).toContain(isRoot ? `who may not pass ${home}. Run "chmod o+x ${home}"` : 'helped');
  });
});
