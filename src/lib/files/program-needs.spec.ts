// What programs need beside their own file, as npm, venv, pyenv and nvm lay them out.
import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { removeDir, tempDir } from '../../../test/helpers/temp-tools.ts';
import { behindShim, programNeeds } from './program-needs.ts';

const dir = realpathSync(tempDir());
afterAll(() => removeDir(dir));

function program(path: string, text = '\u007fELF'): string {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
  chmodSync(join(dir, path), 0o755);
  return join(dir, path);
}

function link(path: string, to: string): string {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  symlinkSync(join(dir, to), join(dir, path));
  return join(dir, path);
}

it('a program of an npm package: all packages beside it, and Node by its name', () => {
  program('app/node_modules/server/dist/index.js', '#!/usr/bin/env node\n');
  const bin = link('app/node_modules/.bin/server', 'app/node_modules/server/dist/index.js');
  program('nvm/v22/bin/node');
  const { places, folders } = programNeeds(bin, `relative:${join(dir, 'nvm/v22/bin')}`);
  expect(places).toEqual([join(dir, 'app/node_modules'), join(dir, 'nvm/v22/bin/node')]);
  expect(folders).toEqual([join(dir, 'nvm/v22/bin')]);
});

it('a program of a virtual environment: the environment, and the Python that it was made of', () => {
  const python = program('pyenv/versions/3.12.1/bin/python3.12');
  mkdirSync(join(dir, 'pyenv/versions/3.12.1/lib/python3.12'), { recursive: true });
  writeFileSync(program('venv/pyvenv.cfg'), '');
  const venvPython = link('venv/bin/python3', 'pyenv/versions/3.12.1/bin/python3.12');
  const server = program('venv/bin/server', `#!${venvPython}\n`);
  const expected = [join(dir, 'venv'), dirname(dirname(python))];
  expect(programNeeds(server, '').places).toEqual(expected);
  expect(programNeeds(venvPython, '').places).toEqual(expected);
});

it('a shim of pyenv stands for the program of the version that is set', () => {
  const root = join(dir, 'shims-of');
  const shim = program('shims-of/shims/server', '#!/usr/bin/env bash\n');
  const real = program('shims-of/versions/3.11.7/bin/server');
  writeFileSync(join(root, 'version'), '3.11.7\n');
  expect(behindShim(shim, {})).toBe(real);
  expect(behindShim(shim, { PYENV_VERSION: '2.7' })).toBe(shim);
  expect(behindShim(real, {})).toBe(real);
});

it('a folder that merely has programs in it is not shown whole', () => {
  const own = program('home/bin/python3');
  mkdirSync(join(dir, 'home/secrets'), { recursive: true });
  expect(programNeeds(own, '').places).toEqual([own]);
});

it('an interpreter that leads to itself comes to an end', () => {
  const circle = program('circle', `#!${join(dir, 'circle')}\n`);
  expect(programNeeds(circle, '').places).toEqual([circle]);
});
