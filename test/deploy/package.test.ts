// The npm package: packed, installed in a clean folder and started by npx, it serves the demo, and stops when it is told to.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { callTool } from '../helpers/rest-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { outsideEnv } from './outside-env.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Of the packed file: it has 5.3 MB, and was 14 with the maps, which have all of the source in them. */
const MOST_BYTES = 7_000_000;

let dir: string;
let tarball: string;
let clean: string;

const ENV = outsideEnv();
const npm = (args: readonly string[], cwd: string) =>
  execFileSync('npm', args, {
    cwd,
    env: ENV,
    timeout: 300_000,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

beforeAll(() => {
  dir = tempDir();
  clean = join(dir, 'clean');
  mkdirSync(clean);
  npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', dir], ROOT);
  const [packed = ''] = readdirSync(dir).filter((name) => name.endsWith('.tgz'));
  tarball = join(dir, packed);
  writeFileSync(join(clean, 'package.json'), '{"private":true}');
  npm(['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], clean);
});

afterAll(() => removeDir(dir));

function startByNpx(env: Readonly<Record<string, string>> = {}) {
  const ports = { UTE_HTTP_PORT: '0', UTE_GRPC_PORT: '0', UTE_METRICS_PORT: '0' };
  // In a group of its own: npx starts it through a shell.
  const child = spawn('npx', ['--no-install', 'unified-tool-executor'], {
    cwd: clean,
    env: { ...ENV, ...ports, ...env },
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const closed = new Promise((done) => child.once('close', done));
  const stop = () => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    return closed;
  };
  /** As a supervisor does that knows no group. */
  const terminateNpx = () => child.kill('SIGTERM');
  return { output: () => output, exitCode: () => child.exitCode, closed, stop, terminateNpx };
}

describe('the package', () => {
  it('holds no source, no test and no development dependency', () => {
    const installed = join(clean, 'node_modules');
    const own = join(installed, 'unified-tool-executor');
    expect(readdirSync(own).toSorted()).toEqual(
      [
        'README.md',
        'config',
        'dist',
        'package.json',
        'packs',
        'proto',
        'python',
        'scripts',
        'tools',
      ].toSorted(),
    );
    for (const name of ['typescript', 'vitest', 'oxlint', '@modelcontextprotocol/server-everything'])
      expect(existsSync(join(installed, name))).toBe(false);
    const files = readdirSync(own, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => /\.map$|(?<!\.d)\.ts$/.test(name))).toEqual([]);
    expect(statSync(tarball).size).toBeLessThan(MOST_BYTES);
  });

  it('npx unified-tool-executor serves the demo: a key, a call of each kind that it brings, an orderly end', async () => {
    const { output, stop } = startByNpx();
    try {
      await eventually(() => /"msg":"ready"/.test(output()), 'ready');
      const [key = ''] = /ute_live_[\w-]+/.exec(output()) ?? [];
      const ready = output()
        .split('\n')
        .find((line) => line.includes('"msg":"ready"'));
      const target = { url: (JSON.parse(ready ?? '') as { rest: string }).rest, key };
      expect(await callTool(target, 'calculate_sum', { a: 2, b: 3 })).toMatchObject({ body: { data: 5 } });
      expect(await callTool(target, 'echo', { text: 'hi' })).toMatchObject({ body: { ok: true } });
      expect(await callTool(target, 'get_weather', { city: 'Berlin' })).toMatchObject({ body: { ok: true } });
      expect(output()).toContain('so this serves the demo');
      expect(existsSync(join(clean, 'data'))).toBe(true);
    } finally {
      await stop();
    }
    expect(output()).toContain('"msg":"stopped"');
  });

  it('SIGTERM to npx alone ends the gateway in good order', async () => {
    const { output, closed, stop, terminateNpx } = startByNpx();
    try {
      await eventually(() => /"msg":"ready"/.test(output()), 'ready');
      terminateNpx();
      // Of the gateway as well, which has the same standard output.
      await closed;
      expect(output()).toContain('"msg":"stopped"');
    } finally {
      await stop();
    }
  });

  it('in a folder with a gateway.yaml, npx serves that', async () => {
    const config = join(clean, 'config');
    mkdirSync(config);
    writeFileSync(join(config, 'gateway.yaml'), 'hosts: 127.0.0.1\n');
    const { output, closed, exitCode } = startByNpx();
    await closed;
    expect(exitCode()).toBe(1);
    expect(output()).toMatch(/config\/gateway\.yaml:1:1.*did you mean "host"/);
    expect(output()).not.toContain('demo');
  });

  it('npx ute is there, and tells the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(npm(['exec', '--no-install', '--', 'ute', '--version'], clean).trim()).toBe(version);
  });
});
