// All plugins of some settings: an operator's own beside those that are built in, and all that is wrong with them in one go.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { EXECUTORS } from '../../executors/index.ts';
import { loadSettings } from '../../settings/load-settings.ts';
import { knownPlugins } from './known-plugins.ts';

const dir = mkdtempSync(join(tmpdir(), 'ute-plugins-'));
const file = join(dir, 'gateway.yaml');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function known(yaml: string) {
  writeFileSync(file, yaml);
  return knownPlugins(loadSettings({ UTE_CONFIG: file }, dir));
}

it('has those that are built in where there are no others', async () => {
  expect(await known('')).toEqual({ custom: [], plugins: EXECUTORS });
});

it('tells of each module that cannot be loaded at its line, with what the others refuse', async () => {
  writeFileSync(join(dir, 'empty.mjs'), 'export const other = 1;');
  const refused = known(`custom_extensions:
  - path: empty.mjs
custom_executors:
  - path: empty.mjs
extensions: { mine: {}, auth: { flood_rate: often } }
`);
  await expect(refused).rejects.toMatchObject({
    name: 'SettingsError',
    problems: [
      { file, line: 2, column: 5, path: 'custom_extensions.0.path' },
      { file, line: 4, column: 5, path: 'custom_executors.0.path' },
      { file, line: 5, path: 'extensions.auth.flood_rate' },
    ],
  });
});
