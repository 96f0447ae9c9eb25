// Child processes of the benchmarks: started on free ports, spoken to by IPC, ended at the end.
import { fork, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createApiKey } from '../dist/lib/secrets/api-key.js';
import { freePorts } from '../test/helpers/free-port.ts';
import { cpuMs } from './processor-time.js';

const ROOT = join(import.meta.dirname, '..');
/** The flags and the program of `npm start`. */
const [, ...START] = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts.start.split(' ');

/** A benchmark that fails leaves nothing running: a gateway that is told to end ends its own children. */
const running = new Set();
process.once('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

function followed(child) {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Forks a script of this folder and waits for its first message. Its output is thrown away, as a log shipper would take it. */
export function startChild(script, ...args) {
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'];
  const child = followed(fork(join(import.meta.dirname, script), args, { stdio }));
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve({ message, child, stop: () => stopChild(child) }));
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
  });
}

/** One that the user of the embedded database may enter: it would be kept in a folder of the machine, and stay there. */
function gatewayDir() {
  const dir = mkdtempSync(join(tmpdir(), 'ute-bench-'));
  chmodSync(dir, 0o711);
  return dir;
}

/** Starts the built gateway as an operator would, or another program of this folder, and waits until it is ready. */
export async function startGateway({ tools, settings = {}, program }) {
  const dir = gatewayDir();
  const key = createApiKey();
  const [http, grpc, metrics] = await freePorts(3);
  writeFileSync(
    join(dir, 'gateway.yaml'),
    stringify({
      http: { port: http },
      grpc: { port: grpc },
      metrics: { port: metrics },
      data_dir: join(dir, 'data'),
      auth: {
        keys: [keyEntry(key)],
      },
      loaders: [{ type: 'yaml-file', paths: [tools] }],
      executors: { python: { module_paths: [join(ROOT, 'tools/python')] } },
      extensions: { auth: { flood_rate: 1_000_000 } },
      demo: { upstream: true },
      ...settings,
    }),
  );
  const startedAt = performance.now();
  const run = program === undefined ? START : [...START.slice(0, -1), join(import.meta.dirname, program)];
  const env = { PATH: process.env.PATH, UTE_CONFIG: join(dir, 'gateway.yaml') };
  const stdio = ['ignore', 'ignore', 'inherit'];
  const child = followed(spawn(process.execPath, run, { cwd: ROOT, stdio, env }));
  await untilReady(http, child);
  const readyMs = performance.now() - startedAt;
  return {
    url: `http://127.0.0.1:${http}`,
    grpc: `127.0.0.1:${grpc}`,
    key: key.text,
    readyMs,
    residentMb: () => residentMb(child.pid),
    cpuMs: () => cpuMs(child.pid),
    /** Of several processes: all of them. */
    allCpuMs: () => [child.pid, ...childrenOf(child.pid)].reduce((sum, pid) => sum + cpuMs(pid), 0),
    byProcess: (name) => byProcess(metrics, name),
    metric: (name) => metric(metrics, name),
    untilShipped: () => untilShipped(metrics),
    async stop() {
      await stopChild(child);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Runs the pipeline in a process of its own and returns what it measured. */
export async function inProcess({
  tools,
  tool,
  args,
  inFlight,
  count,
  warmUp = 20_000 / inFlight,
  settings = {},
}) {
  const dir = gatewayDir();
  const key = createApiKey();
  writeFileSync(
    join(dir, 'gateway.yaml'),
    stringify({
      data_dir: join(dir, 'data'),
      auth: { keys: [keyEntry(key)] },
      loaders: [{ type: 'yaml-file', paths: [tools] }],
      executors: { python: { module_paths: [join(ROOT, 'tools/python')] } },
      extensions: { auth: { flood_rate: 10_000_000 } },
      ...settings,
    }),
  );
  const child = await startChild(
    'pipeline-child.js',
    join(dir, 'gateway.yaml'),
    key.text,
    tool,
    JSON.stringify(args),
    inFlight,
    count,
    warmUp,
  );
  rmSync(dir, { recursive: true, force: true });
  return child.message;
}

function keyEntry({ id, secretHash }) {
  return { id, secret_sha256: secretHash.toString('hex'), tenant: 'bench', roles: ['platform_admin'] };
}

async function stopChild(child) {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}

/** Resident memory of one process, without its workers. */
function residentMb(pid) {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+) kB/);
  return Number(line?.[1] ?? 0) / 1024;
}

/** Those that serve beside it, and no tools' programs: there are none here. */
function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** The sum of a metric for each of several processes. */
async function byProcess(port, name) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const sums = new Map();
  for (const [, process, value] of text.matchAll(
    new RegExp(`^${name}\\{.*?process="(\\d+)".*\\} (\\S+)$`, 'gm'),
  ))
    sums.set(process, (sums.get(process) ?? 0) + Number(value));
  return sums;
}

/** The value of a series without labels. */
async function metric(port, name) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

/** Until what earlier calls left behind is done: their audit records are in the database. */
async function untilShipped(port) {
  for (let look = 0; look < 240; look += 1) {
    if ((await metric(port, 'ute_audit_pending_records')) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error('the audit records of the warm-up are still not in the database');
}

/** A port that takes connections says little: it may be the gateway looking whether it is free. */
async function untilReady(port, child) {
  for (let attempt = 0; attempt < 6000; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`);
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await response?.text();
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('the gateway did not become ready');
}
