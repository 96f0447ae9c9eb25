// `npm run test:schemathesis`: the built gateway, with the demo tools on an empty data_dir, is asked by Schemathesis whether it answers as
// docs/reference/openapi.json says. It is installed beside node_modules at first, from test/schemathesis/requirements.txt.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { installPinned } from '../test/helpers/pinned-installation.ts';

const ROOT = join(import.meta.dirname, '..');
const SETTINGS = join(ROOT, 'test/schemathesis');
const READY_WITHIN_MS = 120_000;

/** Resolves to where REST is and the first key, which a gateway with an empty data_dir tells once. */
async function ready(gateway) {
  const lines = createInterface({ input: gateway.stdout });
  const timer = setTimeout(() => gateway.kill(), READY_WITHIN_MS);
  let key;
  for await (const line of lines) {
    key ??= /ute_live_[\w-]+/.exec(line)?.[0];
    if (!line.includes('"msg":"ready"')) continue;
    clearTimeout(timer);
    gateway.stdout.resume();
    return { rest: JSON.parse(line).rest, key };
  }
  throw new Error('the gateway did not get ready');
}

async function main() {
  const program = join(installPinned({ name: 'schemathesis', from: SETTINGS }), 'python/bin/schemathesis');
  const dir = mkdtempSync(join(tmpdir(), 'ute-schemathesis-'));
  const ports = { UTE_HTTP_PORT: '0', UTE_GRPC_PORT: '0', UTE_METRICS_PORT: '0' };
  const gateway = spawn(process.execPath, ['dist/bundle/main.js'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, UTE_DATA_DIR: join(dir, 'data'), UTE_LOG_LEVEL: 'info', ...ports },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const { rest, key } = await ready(gateway);
    const options = ['--config-file', join(SETTINGS, 'schemathesis.toml'), '--no-color'];
    const target = ['--url', rest, '--header', `Authorization: Bearer ${key}`, '--continue-on-failure'];
    const child = spawn(program, [...options, 'run', 'docs/reference/openapi.json', ...target], {
      cwd: ROOT,
      stdio: 'inherit',
    });
    const [code] = await once(child, 'close');
    if (gateway.exitCode !== null || gateway.signalCode !== null) throw new Error('the gateway ended');
    process.exitCode = code ?? 1;
  } finally {
    if (gateway.exitCode === null && gateway.signalCode === null) {
      gateway.kill();
      await once(gateway, 'close');
    }
    rmSync(dir, { recursive: true, force: true });
  }
}

await main();
