// `npm run test:mcp-conformance`: the built gateway, with the tools of test/mcp-conformance, is asked by the protocol's own conformance suite, for each
// revision that it serves. The suite is installed beside node_modules at first, pinned by its lockfile; what is expected to fail, and
// why, is in test/mcp-conformance/expected-failures.*.yaml. A scenario that passes and is expected to fail is a failure as well. The suite does not
// hold those of extensions to that list, and this program does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';
import { installPinned } from '../test/helpers/pinned-installation.ts';

const ROOT = join(import.meta.dirname, '..');
const HERE = join(ROOT, 'test/mcp-conformance');
const READY_WITHIN_MS = 120_000;
const REVISIONS = ['2026-07-28', '2025-11-25'];

/** Resolves to where REST is. */
async function ready(gateway) {
  const timer = setTimeout(() => gateway.kill(), READY_WITHIN_MS);
  for await (const line of createInterface({ input: gateway.stdout })) {
    if (!line.includes('"msg":"ready"')) continue;
    clearTimeout(timer);
    gateway.stdout.resume();
    return JSON.parse(line).rest;
  }
  throw new Error('the gateway did not get ready');
}

/** Of the suite's summary: how many checks of a scenario have failed. */
const FAILED = /^✗ ([\w-]+): \d+ passed, (\d+) failed/gm;

/** A scenario that is listed by its checks may have no more failures than those. */
function unlistedFailures(said, expected) {
  const listed = parse(readFileSync(expected, 'utf8')).server;
  const found = [...said.matchAll(FAILED)];
  if (!said.includes('=== SUMMARY ===')) return ['everything: there is no summary'];
  return found.flatMap(([, scenario, count]) => {
    if (listed.includes(scenario)) return [];
    const checks = listed.filter((name) => name.startsWith(`${scenario}:`));
    return Number(count) <= checks.length ? [] : [`${scenario} (${count} checks, ${checks.length} expected)`];
  });
}

async function main() {
  const program = join(
    installPinned({ name: 'mcp-conformance', from: HERE }),
    'node_modules/@modelcontextprotocol/conformance/dist/index.js',
  );
  const dir = mkdtempSync(join(tmpdir(), 'ute-mcp-conformance-'));
  const ports = { UTE_HTTP_PORT: '0', UTE_GRPC_PORT: '0', UTE_METRICS_PORT: '0' };
  const gateway = spawn(process.execPath, ['dist/bundle/main.js'], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      UTE_CONFIG: join(HERE, 'gateway.yaml'),
      UTE_DATA_DIR: join(dir, 'data'),
      ...ports,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const rest = await ready(gateway);
    for (const revision of REVISIONS) {
      const expected = join(HERE, `expected-failures.${revision}.yaml`);
      const args = [
        'server',
        '--url',
        `${rest}/mcp`,
        '--requirements',
        revision,
        '--expected-failures',
        expected,
      ];
      const suite = spawn(process.execPath, [program, ...args, ...process.argv.slice(2)], {
        cwd: dir,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      suite.stdout.setEncoding('utf8').on('data', (text) => (said += text));
      suite.stdout.pipe(process.stdout);
      const [code] = await once(suite, 'close');
      const unlisted = unlistedFailures(said, expected);
      if (unlisted.length > 0) process.stderr.write(`Not expected to fail: ${unlisted.join(', ')}\n`);
      if (code !== 0 || unlisted.length > 0) process.exitCode = code || 1;
    }
  } finally {
    if (gateway.exitCode === null && gateway.signalCode === null) {
      gateway.kill();
      await once(gateway, 'close');
    }
    rmSync(dir, { recursive: true, force: true });
  }
}

await main();
