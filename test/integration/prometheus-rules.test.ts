// The alerts of deploy/prometheus: Prometheus' own tool takes them, each fires for what it is for, and each has a runbook.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'deploy/prometheus');
const NEEDS_PROMTOOL =
  'These tests need promtool: install with "apt-get install --no-install-recommends prometheus".';

interface Rule {
  readonly alert?: string;
  readonly annotations: { readonly runbook_url: string };
}
interface Rules {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}
interface Cases {
  readonly tests: readonly { readonly name: string }[];
}

const read = (file: string): unknown => parse(readFileSync(file, 'utf8'));
const alerts = (read(join(FOLDER, 'alerts.yaml')) as Rules).groups.flatMap(({ rules }) => rules);
const tests = globSync(join(FOLDER, 'tests/*.yaml'));

function promtool(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

beforeAll(() => {
  if (spawnSync('promtool', ['--version']).error !== undefined) throw new Error(NEEDS_PROMTOOL);
});

it('Prometheus takes the rules as they are', () => {
  const { status, output } = promtool('check', 'rules', ...globSync(join(FOLDER, '*.yaml')));
  expect(output).not.toMatch(/warn|error/i);
  expect(status).toBe(0);
});

it('each alert fires for what it is for, and is silent beside it', { timeout: 240_000 }, () => {
  expect(promtool('test', 'rules', ...tests)).toMatchObject({ status: 0 });
  const cases = tests.flatMap((file) => (read(file) as Cases).tests.map(({ name }) => name));
  const expected = alerts.flatMap(({ alert }) => [`${alert} fires`, `${alert} is silent`]);
  expect(cases.toSorted()).toEqual(expected.toSorted());
});

it.each(alerts)('$alert leads to its runbook', ({ alert = '', annotations }) => {
  const [page = '', anchor] = annotations.runbook_url.split('#');
  expect(existsSync(join(ROOT, page))).toBe(true);
  expect(anchor).toBe(alert.toLowerCase());
  expect(readFileSync(join(ROOT, page), 'utf8')).toMatch(new RegExp(`^## ${alert}$`, 'm'));
});
