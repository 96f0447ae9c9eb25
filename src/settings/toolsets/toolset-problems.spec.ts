// Faults of toolsets in gateway.yaml: all at once, each with its place.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadSettings } from '../load-settings.ts';
import { SettingsError } from '../problems/settings-error.ts';

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'ute-toolsets-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function load(text: string) {
  const file = join(dir, 'gateway.yaml');
  writeFileSync(file, text);
  return loadSettings({ UTE_CONFIG: file }, dir);
}

function faultsOf(text: string): readonly string[] {
  try {
    load(text);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);
  }
}

it('names every fault of every toolset, with line and column', () => {
  const text = `toolsets:
  1st: {}
  support:
    listing: search
    overrides:
      issues.create: { name: report.bug }
      issues.list: { name: bug }
      issues.close: { name: bug, fixed: { owner: acme }, hidden: [state, owner] }
      issues.find: { name: search_tools }
      pay: { name: refund }
      refund: { description: Refunds. }
      issues.open: { shown: true }
  billing: { include: { tool: [a] } }
`;
  expect(faultsOf(text)).toEqual([
    expect.stringMatching(/^2:3 toolsets\.1st: .*expected a letter/),
    expect.stringMatching(
      /^6:24 toolsets\.support\.overrides\.issues\.create\.name: expected a name that every model provider takes/,
    ),
    expect.stringMatching(/^12:22 toolsets\.support\.overrides\.issues\.open\.shown: unknown key/),
    expect.stringMatching(
      /^13:25 toolsets\.billing\.include\.tool: unknown key "tool"; did you mean "tools"\?/,
    ),
    expect.stringMatching(
      /^8:23 toolsets\.support\.overrides\.issues\.close\.name: "bug" is the name of issues\.list here already/,
    ),
    expect.stringMatching(
      /^8:74 toolsets\.support\.overrides\.issues\.close\.hidden\.1: "owner" is fixed as well/,
    ),
    expect.stringMatching(
      /^9:22 toolsets\.support\.overrides\.issues\.find\.name: "search_tools" is one of the tools that search/,
    ),
    expect.stringMatching(
      /^10:14 toolsets\.support\.overrides\.pay\.name: "refund" is the name of refund here already/,
    ),
  ]);
});

it.each([
  'toolsets: 5',
  'toolsets: { a: { overrides: [] } }',
  'toolsets: { a: { overrides: { x: 1 } } }',
  'toolsets: { a: null }',
])('is told of what has no form at all: %s', (text) => expect(faultsOf(text)).not.toEqual([]));

it('takes what the reference shows', () => {
  const { toolsets } = load(`toolsets:
  support:
    include: { tools: ['issues.*'], tags: [support], categories: [retrieval] }
    overrides: { issues.create: { name: report_bug, fixed: { owner: acme, n: [1, { a: null }] }, hidden: [milestone] } }
`);
  expect(toolsets['support']).toMatchObject({
    listing: 'full',
    overrides: { 'issues.create': { name: 'report_bug' } },
  });
});
