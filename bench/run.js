// `npm run bench`: what a call costs, each figure beside its baseline from the same run, and against its target. Parts by their names:
// `npm run bench -- rest grpc`, or `-- governance` for what policies, sessions, records and the check of them cost.
// Rounds of both sides alternate, so that a noisy machine is noisy for both. Ends with 1 when a target is missed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inProcess, startChild, startGateway } from './children.js';
import { asynchronous } from './asynchronous.js';
import { grpc } from './grpc.js';
import { http } from './http.js';
import { listing } from './listing.js';
import { mcp } from './mcp.js';
import { mcpDoor } from './mcp-door.js';
import { ROUNDS, WARM_UP_SECONDS, allMet, compare, median, number, report } from './measure.js';
import { callsOf, perSecond } from './rest-load.js';
import { processes } from './processes.js';
import { records } from './records.js';
import { replicas } from './replicas.js';
import { admission, sessionTrips, shared } from './shared.js';
import { shell } from './shell.js';
import { sql } from './sql.js';
import { stream } from './stream.js';
import { BODY } from './stores.js';
import { starts } from './starts.js';
import { sustained } from './sustained.js';
import { telemetry } from './telemetry.js';
import { toolSearch } from './tool-search.js';
import { verify } from './verify.js';
import { waiting } from './waiting.js';

const ROOT = join(import.meta.dirname, '..');
const TOOLS = join(ROOT, 'bench/tools.yaml');
async function rest() {
  const bare = await startChild('fastify-echo.js');
  const gateway = await startGateway({ tools: TOOLS });
  const calls = callsOf(gateway, 'echo', BODY);
  const theirs = { url: `http://127.0.0.1:${bare.message.port}/echo`, body: { arguments: BODY } };
  await calls(WARM_UP_SECONDS);
  await perSecond(theirs, WARM_UP_SECONDS);
  const { base, own, ratio } = await compare(
    () => perSecond(theirs),
    async () => (await calls()).perSecond,
  );
  await Promise.all([bare.stop(), gateway.stop()]);
  report(
    'REST echo, whole pipeline',
    `${number(own)} calls/s`,
    `${number(base)} calls/s (bare Fastify)`,
    `${number(ratio * 100)} %`,
    '≥ 35 %',
    ratio >= 0.35,
  );
}

async function pipeline() {
  const runs = [];
  for (let round = 0; round < ROUNDS; round += 1)
    runs.push(await inProcess({ tools: TOOLS, tool: 'echo', args: BODY, inFlight: 1, count: 50_000 }));
  const medianUs = median(runs.map((run) => run.medianUs));
  report(
    'execute() in process, all default extensions',
    `${number(medianUs)} µs median (p99 ${number(median(runs.map((run) => run.p99Us)))} µs)`,
    '–',
    '–',
    '≤ 15 µs',
    medianUs <= 15,
  );
}

/** Two rules are asked; the second is true. */
async function policy() {
  const added = [];
  const run = (tool) => inProcess({ tools: TOOLS, tool, args: BODY, inFlight: 1, count: 50_000 });
  for (let round = 0; round < ROUNDS; round += 1) {
    const without = await run('echo');
    const ruled = await run('echo_ruled');
    added.push({ base: without.medianUs, own: ruled.medianUs, more: ruled.medianUs - without.medianUs });
  }
  const of = (field) => median(added.map((pair) => pair[field]));
  report(
    'execute() in process, held to two policy rules',
    `${number(of('own'))} µs median`,
    `${number(of('base'))} µs (no rules)`,
    `${number(of('more'))} µs added`,
    '≤ 10 µs',
    of('more') <= 10,
  );
}

async function python() {
  // The interpreter itself: a version manager's shim would only make us look better.
  const interpreter = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  }).stdout.trim();
  const spawned = [];
  for (let i = 0; i < 30; i += 1) {
    const at = performance.now();
    spawnSync(interpreter, ['-c', 'print(2 + 3)']);
    spawned.push(performance.now() - at);
  }
  const perSecond = 1000 / median(spawned);
  const args = { a: 2, b: 3 };
  for (const [tool, what, count, least] of [
    ['add', 'warm python call, reuse', 20_000, 50],
    ['add_forked', 'python call, a fork each', 4_000, 5],
  ]) {
    const { perSecond: warm } = await inProcess({ tools: TOOLS, tool, args, inFlight: 8, count });
    report(
      what,
      `${number(warm)} calls/s`,
      `${number(perSecond)} calls/s (python3 -c each)`,
      `${number(warm / perSecond)} ×`,
      `≥ ${least} ×`,
      warm / perSecond >= least,
    );
  }
}

async function startUp() {
  const starts = [];
  let resident = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const gateway = await startGateway({ tools: join(ROOT, 'config/tools.yaml') });
    starts.push(gateway.readyMs);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    resident = Math.max(resident, gateway.residentMb());
    await gateway.stop();
  }
  report(
    'demo set, start to ready',
    `${number(median(starts))} ms`,
    '–',
    '–',
    '< 1,500 ms',
    median(starts) < 1500,
  );
  report('demo set, resident when idle', `${number(resident)} MB`, '–', '–', '< 150 MB', resident < 150);
}

function manyTools(count, changed = '') {
  const one = (i) => `  - name: tool_${i}
    description: Tool number ${i} echoes what it is given${i === 17 ? changed : ''}
    tool_type: javascript
    input_schema:
      type: object
      properties:
        text: { type: string, maxLength: 200 }
        count: { type: integer, minimum: 0, maximum: ${i + 1} }
      required: [text]
      additionalProperties: false
    implementation_config: { handler: ${ROOT}/tools/handlers/echo.js, trusted: true }
    metadata: { version: 1.0.0, category: utility, read_only: true, tags: [bulk] }
`;
  return `tools:\n${Array.from({ length: count }, (_, i) => one(i)).join('')}`;
}

async function callMedianMs(gateway, count) {
  const times = [];
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` };
  for (let i = 0; i < 2000; i += 1) {
    const at = performance.now();
    const response = await fetch(`${gateway.url}/v1/tools/tool_${i % count}/execute`, {
      method: 'POST',
      headers,
      body: '{"arguments":{"text":"x"}}',
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`status ${response.status}`);
    if (i >= 500) times.push(performance.now() - at);
  }
  return median(times);
}

async function tenThousand() {
  const dir = mkdtempSync(join(tmpdir(), 'ute-bench-'));
  const file = join(dir, 'tools.yaml');
  writeFileSync(file, manyTools(10));
  const few = await startGateway({ tools: file });
  const fewMs = await callMedianMs(few, 10);
  await few.stop();
  writeFileSync(file, manyTools(10_000));
  const many = await startGateway({ tools: file });
  const resident = many.residentMb();
  const manyMs = await callMedianMs(many, 10);
  const headers = { authorization: `Bearer ${many.key}` };
  const reload = async (text) => {
    writeFileSync(file, text);
    const response = await fetch(`${many.url}/v1/admin/reload`, { method: 'POST', headers });
    return (await response.json()).duration_ms;
  };
  const reloadMs = [];
  for (let i = 0; i < ROUNDS; i += 1) reloadMs.push(await reload(manyTools(10_000, ` (${i})`)));
  await many.stop();
  rmSync(dir, { recursive: true, force: true });
  report(
    '10,000 tools, start to ready',
    `${number(many.readyMs)} ms`,
    `${number(few.readyMs)} ms (10 tools)`,
    '–',
    '< 6,000 ms',
    many.readyMs < 6000,
  );
  report('10,000 tools, resident', `${number(resident)} MB`, '–', '–', '< 450 MB', resident < 450);
  report(
    '10,000 tools, a later call',
    `${number(manyMs)} ms median`,
    `${number(fewMs)} ms (10 tools)`,
    `${number(manyMs / fewMs)} ×`,
    '≤ 1.25 ×',
    manyMs / fewMs <= 1.25,
  );
  report(
    '10,000 tools, reload with one changed',
    `${number(median(reloadMs))} ms`,
    `${number(many.readyMs)} ms (all)`,
    `${number((median(reloadMs) / many.readyMs) * 100)} %`,
    '≤ 50 %',
    median(reloadMs) / many.readyMs <= 0.5,
  );
}

const calls = {
  rest,
  grpc,
  pipeline,
  policy,
  python,
  startUp,
  tenThousand,
  listing,
  toolSearch,
  shell,
  sql,
  http,
  mcp,
  mcpDoor: () => mcpDoor(TOOLS),
  telemetry,
};
const state = {
  shared,
  admission,
  sessionTrips,
  records,
  verify,
  waiting,
  asynchronous,
  starts,
  replicas,
  processes,
};
/** Too long for every run: only by name. */
const long = { sustained, stream };
const parts = { ...calls, ...state, ...long };
/** Several of them by one name. */
const groups = { governance: ['policy', 'sessionTrips', 'records', 'verify', 'shared'] };
const asked = process.argv.slice(2).flatMap((name) => groups[name] ?? [name]);
const unknown = asked.find((name) => !Object.hasOwn(parts, name));
if (unknown !== undefined)
  throw new Error(`there is no part ${unknown}: ${Object.keys({ ...parts, ...groups }).join(', ')}`);
for (const name of asked.length > 0 ? asked : Object.keys({ ...calls, ...state })) await parts[name]();
if (!allMet()) process.exit(1);
