// Whoever is on call finds an entry for everything that can be wrong: for each reason of a refusal, for each degraded component.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { REASONS } from '../../src/contract/call/reasons/reasons.ts';
import { DEGRADED_COMPONENTS } from '../../src/infra/telemetry/degraded-gauge.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const page = (path: string) => readFileSync(resolve(ROOT, path), 'utf8');
/** The cells of the row that begins with `name` in code. */
const rowOf = (text: string, name: string) =>
  text
    .split('\n')
    .find((line) => line.startsWith(`| \`${name}\` `))
    ?.split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

it('every reason says what it means and what to do', () => {
  const [, reasons = ''] = page('docs/reference/errors.md').split('# Reasons');
  const without = Object.keys(REASONS).filter((reason) => {
    const [, type, means, advice] = rowOf(reasons, reason) ?? [];
    return !type || !means || !advice;
  });
  expect(without, 'run `npm run generate`; words are in scripts/reasons/what-to-do.js').toEqual([]);
});

it('every degraded component says when it is so, and what /readyz makes of it', () => {
  const [, degraded = ''] = page('docs/failure-modes.md').split('## Ready, and degraded');
  const without = DEGRADED_COMPONENTS.filter((component) => {
    const [, when, ready] = rowOf(degraded, component) ?? [];
    return !when || !ready;
  });
  expect(without, 'rows that docs/failure-modes.md does not have').toEqual([]);
});

it('every degraded component has an alert', () => {
  const alerts = page('deploy/prometheus/alerts.yaml');
  const [, left = ''] = /ute_degraded\{component!~"([^"]+)"\}/.exec(alerts) ?? [];
  // Those that the alert about all others leaves out have one of their own, by this series or by that of what is unread.
  const byOthers: Readonly<Record<string, string>> = {
    agents: 'ute_agents_unread',
    api_keys: 'ute_api_keys_unread',
    tokens: 'ute_issuer_keys_unread',
    tools: 'ute_loader_source_stale',
  };
  const without = left
    .split('|')
    .filter((component) => !alerts.includes(byOthers[component] ?? `ute_degraded{component="${component}"}`));
  expect(left).not.toBe('');
  expect(without).toEqual([]);
});
