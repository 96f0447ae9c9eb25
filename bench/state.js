// What shared state costs: Redis and PostgreSQL against the twins in memory, the queue against a bare BullMQ.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { stringify } from 'yaml';
import { startPostgres } from '../test/helpers/postgres.ts';
import { startRedis } from '../test/helpers/redis.ts';
import { inProcess, startChild, startGateway } from './children.js';
import { ROUNDS, SECONDS, WARM_UP_SECONDS, compare, median, number, report } from './measure.js';

const ROOT = join(import.meta.dirname, '..');
const BODY = { text: 'the quick brown fox jumps over the lazy dog' };
const ECHO = {
  description: 'Return the arguments as they came',
  tool_type: 'javascript',
  input_schema: {
    type: 'object',
    properties: { text: { type: 'string', maxLength: 10_000 } },
    required: ['text'],
  },
  implementation_config: { handler: join(ROOT, 'tools/handlers/echo.js'), trusted: true },
  metadata: { category: 'utility', read_only: true, idempotent: true },
};
/** Asks for admission on each call: with Redis, one round trip. */
const LIMITS = {
  concurrency: { limit: 1_000, max_queue: 1_000 },
  rate_limits: [{ per: 'tenant', rate: 100_000_000, period: '1m', burst: 10_000_000 }],
};
const SLEEPER = `export const execute = ({ ms = 20 }) => new Promise((done) => setTimeout(done, ms, { done: true }));\n`;

async function withStores(work) {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  const dir = mkdtempSync(join(tmpdir(), 'ute-bench-state-'));
  const tools = join(dir, 'tools.yaml');
  writeFileSync(join(dir, 'sleep.mjs'), SLEEPER);
  const sleeper = {
    ...ECHO,
    input_schema: { type: 'object' },
    implementation_config: { handler: './sleep.mjs', trusted: true },
  };
  const list = [
    { ...ECHO, name: 'echo' },
    { ...ECHO, ...LIMITS, name: 'echo_limited' },
    { ...sleeper, name: 'sleep', concurrency: { limit: 50, max_queue: 2_000, max_wait_ms: 60_000 } },
  ];
  writeFileSync(tools, stringify({ tools: list }));
  const shared = { redis: { url: redis.url }, database: { url: postgres.url() } };
  try {
    return await work({ tools, shared, redis, postgres });
  } finally {
    await Promise.all([redis.stop(), postgres.stop()]);
    rmSync(dir, { recursive: true, force: true });
  }
}

function target(gateway, tool, headers = {}) {
  return {
    url: `${gateway.url}/v1/tools/${tool}/execute`,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}`, ...headers },
    body: JSON.stringify({ arguments: BODY }),
    connections: 32,
  };
}

async function perSecond(options, duration = SECONDS) {
  const result = await autocannon({ ...options, duration });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${options.url}: ${result.non2xx} not 2xx`);
  return result.requests.average;
}

/** REST echo with everything shared and audit durable, against the twins in memory. */
export async function shared() {
  await withStores(async ({ tools, shared: settings }) => {
    const alone = await startGateway({ tools });
    const together = await startGateway({ tools, settings });
    for (const [tool, what] of [
      ['echo', 'REST echo on Redis and PostgreSQL, audit durable'],
      ['echo_limited', 'the same with rate and concurrency limits'],
    ]) {
      const [theirs, ours] = [target(alone, tool), target(together, tool)];
      for (const side of [theirs, ours]) await perSecond(side, WARM_UP_SECONDS);
      const { base, own, ratio } = await compare(
        () => perSecond(theirs),
        () => perSecond(ours),
      );
      report(
        what,
        `${number(own)} calls/s`,
        `${number(base)} calls/s (twins in memory)`,
        `${number(ratio * 100)} %`,
        '≥ 60 %',
        ratio >= 0.6,
      );
    }
    await Promise.all([alone.stop(), together.stop()]);
  });
}

/** What the one round trip to Redis adds to a call, alone on the machine. */
export async function admission() {
  await withStores(async ({ tools, shared: settings }) => {
    const run = { tools, tool: 'echo_limited', args: BODY, inFlight: 1, count: 5_000, warmUp: 5_000 };
    const { base, own } = await compare(
      async () => (await inProcess(run)).medianUs / 1000,
      async () => (await inProcess({ ...run, settings: { redis: settings.redis } })).medianUs / 1000,
      3,
    );
    report(
      'admission by Redis, one call in flight',
      `${number(own - base)} ms added at the median`,
      `${number(base)} ms (twin in memory)`,
      '–',
      '≤ 0.5 ms',
      own - base <= 0.5,
    );
  });
}

/** 1,000 calls at once on a limit of 50: what waiting costs in memory, and whether the order is kept. */
export async function waiting() {
  await withStores(async ({ tools, shared: settings }) => {
    const gateway = await startGateway({ tools, settings });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` };
    const ended = [];
    const call = async (n) => {
      const response = await fetch(`${gateway.url}/v1/tools/sleep/execute`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ arguments: { ms: 100 } }),
      });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      ended.push(n);
    };
    await Promise.all(Array.from({ length: 100 }, (_, n) => call(n)));
    ended.length = 0;
    const before = gateway.residentMb();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, gateway.residentMb())), 20);
    await Promise.all(Array.from({ length: 1_000 }, (_, n) => call(n)));
    clearInterval(watch);
    await gateway.stop();
    // Waves of 50 end together: out of order is who ended more than two waves away from its turn.
    const astray = ended.filter((n, place) => Math.abs(n - place) > 100).length;
    report(
      '1,000 calls waiting on a limit of 50',
      `${number(most - before)} MB more, ${astray} out of order`,
      `${number(before)} MB (before)`,
      '–',
      '< 100 MB, 0',
      most - before < 100 && astray === 0,
    );
  });
}

/** Calls accepted and ended per second, against jobs added and done by a bare BullMQ of the same concurrency. */
export async function asynchronous() {
  await withStores(async ({ tools, shared: settings, redis, postgres }) => {
    const COUNT = 3_000;
    const gateway = await startGateway({ tools, settings: { ...settings, async: { concurrency: 32 } } });
    const bare = await startChild('bullmq-queue.js', redis.url);
    const theirs = async () => {
      const at = performance.now();
      bare.child.send(COUNT);
      await new Promise((resolve) => bare.child.once('message', resolve));
      return COUNT / ((performance.now() - at) / 1000);
    };
    const ended = async () =>
      Number(
        (
          await postgres.sql("SELECT count(*) AS n FROM calls WHERE kind = 'async' AND status = 'succeeded'")
        )[0].n,
      );
    const ours = async () => {
      const already = await ended();
      const at = performance.now();
      const accepted = await autocannon({
        ...target(gateway, 'echo', { prefer: 'respond-async' }),
        amount: COUNT,
      });
      if (accepted.non2xx > 0) throw new Error(`${accepted.non2xx} calls were not accepted`);
      while ((await ended()) < already + COUNT) await new Promise((resolve) => setTimeout(resolve, 20));
      return COUNT / ((performance.now() - at) / 1000);
    };
    await theirs();
    await ours();
    const { base, own, ratio } = await compare(theirs, ours, 3);
    await Promise.all([bare.stop(), gateway.stop()]);
    report(
      'asynchronous calls, accepted and ended',
      `${number(own)} calls/s`,
      `${number(base)} jobs/s (bare BullMQ, concurrency 32)`,
      `${number(ratio * 100)} %`,
      '≥ 50 %',
      ratio >= 0.5,
    );
  });
}

/** From start to ready, with a fresh and a known embedded database, and with PostgreSQL and Redis. */
export async function starts() {
  const tools = join(ROOT, 'config/tools.yaml');
  const dataDir = mkdtempSync(join(tmpdir(), 'ute-bench-data-'));
  const timed = async (settings) => {
    const gateway = await startGateway({ tools, settings });
    const databaseMs = await untilRecorded(gateway);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const resident = gateway.residentMb();
    await gateway.stop();
    return { readyMs: gateway.readyMs, databaseMs: gateway.readyMs + databaseMs, resident };
  };
  const settings = { data_dir: dataDir };
  const first = await timed(settings);
  const later = [];
  for (let round = 0; round < 3; round += 1) later.push(await timed(settings));
  rmSync(dataDir, { recursive: true, force: true });
  const laterMs = median(later.map(({ databaseMs }) => databaseMs));
  report('PGlite, first start to the first record', `${number(first.databaseMs)} ms`, `${number(first.readyMs)} ms (doors open)`, '–', '< 3,000 ms', first.databaseMs < 3000); // prettier-ignore
  report('PGlite, later start to the first record', `${number(laterMs)} ms`, `${number(median(later.map(({ readyMs }) => readyMs)))} ms (doors open)`, '–', '< 2,500 ms', laterMs < 2500); // prettier-ignore
  await withStores(async ({ shared: stores }) => {
    const runs = [];
    for (let round = 0; round < ROUNDS; round += 1) runs.push(await timed(stores));
    const readyMs = median(runs.map((run) => run.readyMs));
    const resident = median(runs.map((run) => run.resident));
    report(
      'PostgreSQL and Redis, start to ready',
      `${number(readyMs)} ms`,
      '–',
      '–',
      '< 1,500 ms',
      readyMs < 1500,
    );
    report(
      'PostgreSQL and Redis, resident when idle',
      `${number(resident)} MB`,
      '–',
      '–',
      '< 170 MB',
      resident < 170,
    );
  });
}

/** Asks for the history, which needs the database; milliseconds until it answers. */
async function untilRecorded(gateway) {
  const at = performance.now();
  const headers = { authorization: `Bearer ${gateway.key}` };
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const response = await fetch(`${gateway.url}/v1/calls`, { headers });
    await response.arrayBuffer();
    if (response.status === 200) return performance.now() - at;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('the database did not open');
}

/** What 1, 2 and 3 replicas carry together, on the same Redis and PostgreSQL. For docs/capacity.md; has no target. */
export async function replicas() {
  await withStores(async ({ tools, shared: settings }) => {
    for (const count of [1, 2, 3]) {
      const gateways = [];
      for (let n = 0; n < count; n += 1) gateways.push(await startGateway({ tools, settings }));
      const together = (duration) =>
        Promise.all(gateways.map((gateway) => perSecond(target(gateway, 'echo_limited'), duration)));
      await together(WARM_UP_SECONDS);
      const rates = [];
      for (let round = 0; round < 3; round += 1)
        rates.push((await together()).reduce((sum, rate) => sum + rate, 0));
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      report(
        `${count} replicas, limited echo`,
        `${number(median(rates))} calls/s together`,
        '–',
        '–',
        'none',
        true,
      );
    }
  });
}
