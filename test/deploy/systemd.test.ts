// The service of systemd: what the steps of docs/deployment.md lay down is started by the unit's command, in the unit's environment.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GatewayProcess } from '../helpers/gateway-process.ts';
import { callTool } from '../helpers/rest-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { outsideEnv } from './outside-env.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const UNIT = readFileSync(join(ROOT, 'deploy/systemd/unified-tool-executor.service'), 'utf8');
const PAGE = readFileSync(join(ROOT, 'docs/deployment.md'), 'utf8');
const STEPS = (/## systemd\n[^]*?```sh\n([^]*?)```/.exec(PAGE)?.[1] ?? '').trim().split('\n');

let dir: string;
let gateway: GatewayProcess | undefined;
/** Where the steps write, in a folder that stands for the root. */
const inside = (text: string) => text.replaceAll(/\/(opt|etc|var\/lib)\//g, `${dir}/$1/`);

beforeAll(() => {
  dir = tempDir();
  // As root, the user of the embedded database goes through it: its files would be elsewhere, and stay.
  chmodSync(dir, 0o711);
  const checkout = join(dir, 'checkout');
  for (const part of ['opt', 'etc/systemd/system', 'var/lib/unified-tool-executor', 'checkout'])
    mkdirSync(join(dir, part), { recursive: true });
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', checkout];
  execFileSync('npm', pack, { cwd: ROOT, env: outsideEnv(), stdio: 'ignore' });
  // The checkout, as far as the steps name it.
  for (const name of ['package-lock.json', '.npmrc', 'deploy', 'config'])
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  // What asks for the system's own packages, users and services stays undone; packages are those of this checkout.
  for (const step of STEPS.filter((each) => /^(?:mkdir|tar|cp) /.test(each)))
    execFileSync('sh', ['-ec', inside(step)], { cwd: checkout });
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'opt/unified-tool-executor/node_modules'));
  const tools = join(dir, 'etc/unified-tool-executor/tools.yaml');
  writeFileSync(tools, inside(readFileSync(tools, 'utf8')));
});

afterAll(async () => {
  await gateway?.end();
  removeDir(dir);
});

it('starts, makes a key and answers a call', async () => {
  expect(STEPS.filter((step) => /^(?:mkdir|tar|cp) /.test(step))).toHaveLength(5);
  const [, main = ''] = /^ExecStart=\/usr\/bin\/node .* (\S+)$/m.exec(UNIT) ?? [];
  const env = [...UNIT.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
    name,
    inside(value),
  ]);
  const ports = { UTE_HTTP_PORT: '0', UTE_GRPC_PORT: '0', UTE_METRICS_PORT: '0' };
  const home = join(dir, 'var/lib/unified-tool-executor');
  gateway = new GatewayProcess(home, { ...Object.fromEntries(env), ...ports }, [], inside(main));
  const { rest } = await gateway.ready();
  const [key = ''] = /ute_live_[\w-]+/.exec(gateway.stdout + gateway.stderr) ?? [];
  expect(await callTool({ url: rest, key }, 'get_current_time')).toMatchObject({
    status: 200,
    body: { ok: true },
  });
  gateway.signal('SIGTERM');
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
});
