// What each kind of tool costs beside the same work done by hand, in the same run.
import { spawn } from 'node:child_process';
import { openSync, mkdtempSync, rmSync, writeFileSync, closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import autocannon from 'autocannon';
import { stringify } from 'yaml';
import { AF_UNIX, seccompFilter } from '../dist/infra/sandbox/seccomp-filter.js';
import { machineOf } from '../dist/infra/sandbox/syscalls.js';
import { startPostgres } from '../test/helpers/postgres.ts';
import { inProcess, startChild, startGateway } from './children.js';
import { SECONDS, WARM_UP_SECONDS, compare, median, number, report } from './measure.js';

/** A folder with a tools.yaml of these tools and connections; `gone` removes it. */
function toolsFile(content) {
  const dir = mkdtempSync(join(tmpdir(), 'ute-bench-tools-'));
  const path = join(dir, 'tools.yaml');
  writeFileSync(path, stringify(content));
  return { path, gone: () => rmSync(dir, { recursive: true, force: true }) };
}

const READ_ONLY = { read_only: true, idempotent: true };

async function perSecond({ url, headers = {}, body, connections = 32, duration = SECONDS }) {
  const result = await autocannon({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    connections,
    duration,
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx} not 2xx`);
  return result.requests.average;
}

function callOf(gateway, tool, args) {
  return {
    url: `${gateway.url}/v1/tools/${tool}/execute`,
    headers: { authorization: `Bearer ${gateway.key}` },
    body: { arguments: args },
  };
}

export async function shell() {
  const file = toolsFile({
    tools: [
      {
        name: 'nothing',
        description: 'Does nothing',
        tool_type: 'shell',
        implementation_config: { command: ['true'] },
        metadata: READ_ONLY,
      },
    ],
  });
  const byHand = async () => {
    const times = [];
    for (let i = 0; i < 60; i += 1) times.push(await spawnByHand(['/usr/bin/true']));
    return median(times);
  };
  const ours = async () =>
    (await inProcess({ tools: file.path, tool: 'nothing', args: {}, inFlight: 1, count: 60, warmUp: 20 }))
      .medianUs / 1000;
  const { base, own, ratio } = await compare(byHand, ours, 3);
  file.gone();
  report(
    'shell command in the sandbox',
    `${number(own)} ms`,
    `${number(base)} ms (the same bubblewrap by hand)`,
    `${number(ratio)} ×`,
    '≤ 1.3 ×',
    ratio <= 1.3,
  );
}

/** Milliseconds of one run under the recipe that src/infra/sandbox/bwrap-plan.ts writes. */
function spawnByHand(argv) {
  const dir = mkdtempSync(join(tmpdir(), 'ute-bench-bpf-'));
  writeFileSync(join(dir, 'filter'), FILTER);
  const filter = openSync(join(dir, 'filter'), 'r');
  const startedAt = performance.now();
  const child = spawn('/usr/bin/prlimit', [...LIMITS, '--', '/usr/bin/bwrap', ...RECIPE, ...argv], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'pipe', filter],
    ...(process.getuid() === 0 && { uid: 65534, gid: 65534 }),
  });
  child.stdout.resume();
  child.stderr.resume();
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      closeSync(filter);
      rmSync(dir, { recursive: true });
      if (code === 0) resolve(performance.now() - startedAt);
      else reject(new Error(`bubblewrap by hand ended with ${code}`));
    });
  });
}

const FILTER = seccompFilter(machineOf(process.arch), { families: [AF_UNIX], holdsGroup: false });
const words = (text) => text.trim().split(/\s+/);
const LIMITS = words('--as=536870912 --fsize=16777216 --nofile=256 --cpu=5:6 --core=0');
const RECIPE = words(`
  --unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup
  --disable-userns --assert-userns-disabled --uid 65534 --gid 65534 --hostname sandbox
  --die-with-parent --new-session --as-pid-1 --cap-drop ALL --clearenv --setenv PATH /usr/bin:/bin
  --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev
  --perms 1777 --size 1048576 --tmpfs /dev/shm --perms 1777 --size 16777216 --tmpfs /tmp
  --perms 1777 --size 16777216 --tmpfs /workspace
  --remount-ro /proc --remount-ro /dev --remount-ro / --chdir /workspace --seccomp 3 --
  /usr/bin/prlimit --nproc=64 --
`);

export async function sql() {
  const postgres = await startPostgres(`
    CREATE ROLE agent LOGIN;
    CREATE TABLE items (id int PRIMARY KEY, tenant_id text NOT NULL, name text NOT NULL);
    INSERT INTO items SELECT n, 'bench', 'item ' || n FROM generate_series(1, 1000) n;
    ALTER TABLE items ENABLE ROW LEVEL SECURITY;
    ALTER TABLE items FORCE ROW LEVEL SECURITY;
    CREATE POLICY own_rows ON items USING (tenant_id = NULLIF(current_setting('app.tenant_id', true), ''));
    GRANT SELECT ON items TO agent;
  `);
  const file = toolsFile({
    connections: { store: { type: 'postgres', url: postgres.url('agent'), pool_size: 10 } },
    tools: [
      {
        name: 'item',
        description: 'One item',
        tool_type: 'sql',
        input_schema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
        implementation_config: {
          connection: 'store',
          statement: 'SELECT id, name FROM items WHERE id = {id}',
        },
        metadata: READ_ONLY,
      },
    ],
  });
  const bare = await startChild('fastify-pg.js', postgres.url());
  const gateway = await startGateway({ tools: file.path });
  const theirs = { url: `http://127.0.0.1:${bare.message.port}/item`, body: { id: 7 } };
  const ours = callOf(gateway, 'item', { id: 7 });
  for (const side of [theirs, ours]) await perSecond({ ...side, duration: WARM_UP_SECONDS });
  const { base, own, ratio } = await compare(
    () => perSecond(theirs),
    () => perSecond(ours),
  );
  await Promise.all([bare.stop(), gateway.stop()]);
  await postgres.stop();
  file.gone();
  report(
    'sql select behind row-level security, REST',
    `${number(own)} calls/s`,
    `${number(base)} calls/s (bare Fastify and pg, the same prepared select)`,
    `${number(ratio * 100)} %`,
    '≥ 50 %',
    ratio >= 0.5,
  );
}

export async function http() {
  const upstream = await startChild('fastify-echo.js');
  const origin = `http://127.0.0.1:${upstream.message.port}`;
  const file = toolsFile({
    connections: { upstream: { type: 'http', base_url: origin, allow_private: ['127.0.0.0/8'] } },
    tools: [
      {
        name: 'post',
        description: 'Posts a text',
        tool_type: 'http',
        input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        implementation_config: {
          connection: 'upstream',
          method: 'POST',
          path: '/echo',
          body: { text: '{text}' },
        },
        metadata: READ_ONLY,
      },
    ],
  });
  const gateway = await startGateway({ tools: file.path });
  const body = { text: 'the quick brown fox jumps over the lazy dog' };
  const theirs = { url: `${origin}/echo`, body };
  const ours = callOf(gateway, 'post', body);
  for (const side of [theirs, ours]) await perSecond({ ...side, duration: WARM_UP_SECONDS });
  const alone = await compare(
    () => latencyMs(theirs),
    () => latencyMs(ours),
  );
  const many = await compare(
    () => perSecond(theirs),
    () => perSecond(ours),
  );
  await Promise.all([upstream.stop(), gateway.stop()]);
  file.gone();
  const added = alone.own - alone.base;
  report('http call, one in flight', `${number(alone.own)} ms median`, `${number(alone.base)} ms (direct)`, `${number(added)} ms added`, '≤ 0.6 ms', added <= 0.6); // prettier-ignore
  report('http call, 32 in flight', `${number(many.own)} calls/s`, `${number(many.base)} calls/s (direct)`, `${number(many.ratio * 100)} %`, '≥ 40 %', many.ratio >= 0.4); // prettier-ignore
}

export async function mcp() {
  const script = join(import.meta.dirname, 'mcp-echo.js');
  const modules = join(import.meta.dirname, '../node_modules');
  const connection = {
    type: 'mcp',
    command: process.execPath,
    args: [script],
    readable: [script, modules],
    memory_bytes: 1 << 30,
  };
  const file = toolsFile({
    connections: { echo: connection },
    tools: [
      {
        name: 'echo',
        description: 'Gives a text back',
        tool_type: 'mcp',
        input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        implementation_config: { connection: 'echo', tool: 'echo' },
        metadata: READ_ONLY,
      },
    ],
  });
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [script] }));
  const args = { text: 'the quick brown fox jumps over the lazy dog' };
  const byHand = async () => {
    const count = 10_000;
    let next = 0;
    const caller = async () => {
      while (next < count) {
        next += 1;
        await client.callTool({ name: 'echo', arguments: args });
      }
    };
    const at = performance.now();
    await Promise.all(Array.from({ length: 32 }, caller));
    return (count / (performance.now() - at)) * 1000;
  };
  const run = { tools: file.path, tool: 'echo', args, inFlight: 32, count: 10_000, warmUp: 500 };
  await byHand();
  const { base, own, ratio } = await compare(byHand, async () => (await inProcess(run)).perSecond, 3);
  await client.close();
  file.gone();
  report(
    'mcp call over stdio, in the sandbox, 32 in flight',
    `${number(own)} calls/s`,
    `${number(base)} calls/s (the SDK's client alone, no sandbox)`,
    `${number(ratio * 100)} %`,
    '≥ 40 %',
    ratio >= 0.4,
  );
}

/** Median of single requests, one after another, on a connection that is kept. */
async function latencyMs({ url, headers = {}, body }) {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  const times = [];
  for (let i = 0; i < 600; i += 1) {
    const at = performance.now();
    const response = await fetch(url, init);
    await response.text();
    times.push(performance.now() - at);
    if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
  }
  return median(times);
}
