// What gateway.yaml tells plugins: everything that is wrong with it is said at once, where it stands, and no secret with it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { EXECUTORS } from '../../executors/index.ts';
import { loadSettings } from '../../settings/load-settings.ts';
import { SettingsError } from '../../settings/problems/settings-error.ts';
import { sectionFaults } from './check-sections.ts';
import { extensionsWith } from './pipeline.ts';
import { allFaultsOf } from './validate-tools.ts';

const dir = mkdtempSync(join(tmpdir(), 'ute-sections-'));
const file = join(dir, 'gateway.yaml');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** As at the start: what the settings refuse, with what plugins refuse. */
function check(yaml: string): void {
  writeFileSync(file, yaml);
  const problems = sectionFaults(
    allFaultsOf(() => loadSettings({ UTE_CONFIG: file }, dir)),
    { executors: EXECUTORS, extensions: extensionsWith([]) },
  );
  if (problems.length > 0) throw new SettingsError(problems);
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

it('tells them together with what the settings themselves refuse, in form and in what contradicts', () => {
  const yaml = `http: { port: many }
role: worker
grpc: { port: 9464 }
executors:
  htp: {}
  shell: { max_rn: 1 }
pipeline: { tool: [validation, cahce] }
webhooks: { allow_hosts: [a.example] }
`;
  expect(faultsIn(yaml)).toEqual([
    '1:9  http.port: expected a number, found "many"',
    expect.stringMatching(/^2:1 {2}role: "worker" is for one of several processes/),
    expect.stringMatching(/^8:1 {2}webhooks.secret: is needed/),
    '5:3  executors.htp: there is no executor "htp" here',
    '6:12  executors.shell.max_rn: unknown key "max_rn"',
    expect.stringMatching(
      /^7:32 {2}pipeline.tool.1: there is no extension "cahce" here; did you mean "cache"/,
    ),
  ]);
});

it('guesses at no name where an operator has plugins of their own, which are not loaded for settings that are refused', () => {
  const own =
    'custom_executors: [{ path: ./mine.mjs }]\nhttp: { port: many }\nexecutors: { mine: {}, shell: { max_rn: 1 } }\n';
  expect(faultsIn(own)).toEqual([
    '2:9  http.port: expected a number, found "many"',
    '3:33  executors.shell.max_rn: unknown key "max_rn"',
  ]);
});

it('says of a file that cannot be read nothing but that', () => {
  expect(faultsIn('http: {\n')).toHaveLength(1);
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
