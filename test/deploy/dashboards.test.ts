// The dashboards as Grafana reads them: held to the types that it publishes for dashboards, panels and queries, where Grafana itself is not at hand.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { PROGRAMS } from './programs/build.js';

const FOLDER = resolve(import.meta.dirname, '../../deploy/grafana');
const FILES = readdirSync(FOLDER).map((name) => join(FOLDER, name));

function checked(paths: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(join(PROGRAMS, 'dashboards'), paths, { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

it('each has all that its panels and queries require, and nothing that they do not know', () => {
  expect(checked(FILES)).toEqual({ status: 0, said: `${FILES.length} dashboards, 0 problems\n` });
});

it.each([
  ['an option that the panel does not know', '"graphMode"', '"graphModes"', /unexpected field 'graphModes'/],
  ['a query without its expression', '"expr"', '"expression"', /expr: required field is missing/],
  ['a panel without a place', '"gridPos"', '"place"', /unexpected field 'place'/],
])('%s is told', (_, from, to, problem) => {
  const dir = tempDir();
  try {
    const path = join(dir, 'dashboard.json');
    writeFileSync(path, readFileSync(join(FOLDER, 'ute-overview.json'), 'utf8').replaceAll(from, to));
    const { status, said } = checked([path]);
    expect({ status, said }).toEqual({ status: 1, said: expect.stringMatching(problem) });
  } finally {
    removeDir(dir);
  }
});
