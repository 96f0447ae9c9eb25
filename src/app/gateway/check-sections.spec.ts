// What gateway.yaml tells plugins: everything that is wrong with it is said at once, where it stands, and no secret with it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { EXECUTORS } from '../../executors/index.ts';
import { loadSettings } from '../../settings/load-settings.ts';
import { SettingsError } from '../../settings/problems/settings-error.ts';
import { checkSections } from './check-sections.ts';
import { extensionsWith } from './pipeline.ts';

const dir = mkdtempSync(join(tmpdir(), 'ute-sections-'));
const file = join(dir, 'gateway.yaml');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function check(yaml: string): void {
  writeFileSync(file, yaml);
  checkSections(loadSettings({ UTE_CONFIG: file }, dir), {
    executors: EXECUTORS,
    extensions: extensionsWith([]),
  });
}

/** One a line, without the file, and without the names that are known. */
function faultsIn(yaml: string): readonly string[] {
  try {
    check(yaml);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const lines = error.message.split('\n');
    return lines.map((line) => line.replace(`${file}:`, '').replace(/; known: .*/, ''));
  }
  return [];
}

it('tells everything that is wrong with loaders, executors and extensions at once, each at its place', () => {
  const yaml = `loaders:
  - type: openapi
    name: x
  - type: yaml-fil
  - type: yaml-file
    paths: 3
executors:
  htp: {}
  shell: { max_rn: 1 }
extensions:
  auth: { flood_rate: often }
  aproval: {}
`;
  expect(faultsIn(yaml)).toEqual([
    '2:5  loaders.0.document: is required: expected a string or a map',
    '3:5  loaders.0.name: unknown key "name"',
    '4:5  loaders.1.type: there is no loader "yaml-fil" here',
    '6:5  loaders.2.paths: expected a list, found 3',
    '8:3  executors.htp: there is no executor "htp" here',
    '9:12  executors.shell.max_rn: unknown key "max_rn"',
    '12:3  extensions.aproval: there is no extension "aproval" here',
    '11:11  extensions.auth.flood_rate: expected a number, found "often"',
  ]);
  expect(() => check(yaml)).toThrow('did you mean "approval"?');
});

it('shows nothing of what may be a secret', () => {
  const yaml = `executors:
  http: { password: hunter2-and-more }
loaders:
  - type: http
    url: 5
    token: [hunter2-and-more]
`;
  expect(() => check(yaml)).toThrow('loaders.0');
  expect(() => check(yaml)).not.toThrow('hunter2');
});

it.each(['', 'executors: {}\nextensions: {}\n'])('takes %j', (yaml) => {
  expect(() => check(yaml)).not.toThrow();
});
