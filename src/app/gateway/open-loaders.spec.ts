// What a loader finds wrong with its own entry is told with its place in gateway.yaml.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../test/helpers/quiet-log.ts';
import { loadSettings } from '../../settings/load-settings.ts';
import { OpenedLoaders } from './open-loaders.ts';

const MANIFEST = 'name: orders\nsummary: Orders of the shop.\nfirst_call: { tool: find, arguments: {} }\n';
const TOOLS = `tools:\n  - { name: find, tool_type: shell, implementation_config: { argv: [ls] } }\n`;
const ENTRY = `  - type: pack
    name: orders
    path: .
    choose: { size: large }
    connections: { shop: ours }
    overrides:
      find: { timeout_ms: 5 }
      fnd: { off: true }
`;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-open-loaders-'));
  writeFileSync(join(dir, 'pack.yaml'), MANIFEST);
  writeFileSync(join(dir, 'tools.yaml'), TOOLS);
});
afterEach(() => rmSync(dir, { recursive: true }));

function settingsOf(text: string) {
  writeFileSync(join(dir, 'gateway.yaml'), text);
  return loadSettings({ UTE_CONFIG: join(dir, 'gateway.yaml') }, dir);
}

function opened() {
  const needs = { clock: new FakeClock(), log: quietLog, configDir: dir, dataDir: dir };
  return new OpenedLoaders(needs as unknown as ConstructorParameters<typeof OpenedLoaders>[0]);
}

const problemsOf = async (loaders: ReturnType<OpenedLoaders['of']>) => {
  const { problems = [] } = (await loaders.at(-1)?.loader.load(new AbortController().signal)) ?? {};
  return problems.map(({ file, line, column, path }) => `${file}:${line}:${column} ${path}`);
};

it('what fits nothing in a pack’s entry is told all at once, with file, line and column', async () => {
  const file = join(dir, 'gateway.yaml');
  expect(await problemsOf(opened().of(settingsOf(`loaders:\n${ENTRY}`)))).toEqual([
    `${file}:5:15 loaders.0.choose.size`,
    `${file}:6:20 loaders.0.connections.shop`,
    `${file}:9:7 loaders.0.overrides.fnd`,
  ]);
});

it('also where the entry has moved in the file since its loader was made, or stands behind one that is left out', async () => {
  const loaders = opened();
  loaders.of(settingsOf(`loaders:\n${ENTRY}`));
  const settings = settingsOf(`# Anew.\nloaders:\n  - { type: yaml-file, paths: [tools.yaml] }\n${ENTRY}`);
  const places = ['7:15', '8:20', '11:7'].map((place) => `${join(dir, 'gateway.yaml')}:${place}`);
  const told = (problems: readonly string[]) => problems.map((problem) => problem.split(' ')[0]);
  expect(told(await problemsOf(loaders.of(settings)))).toEqual(places);
  const alone = { ...settings, loaders: settings.loaders.slice(1) };
  expect(told(await problemsOf(loaders.of(alone)))).toEqual(places);
});

it('a pack that does not come with the gateway is told at its name', async () => {
  const settings = settingsOf('loaders:\n  - type: pack\n    name: sistem\n');
  expect(await problemsOf(opened().of(settings))).toEqual([
    `${join(dir, 'gateway.yaml')}:3:5 loaders.0.name`,
  ]);
});
