// Redis and PostgreSQL for a benchmark, with the tools that it calls: an echo, one with limits, and a sleeper.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startPostgres } from '../test/helpers/postgres.ts';
import { startRedis } from '../test/helpers/redis.ts';

const ROOT = join(import.meta.dirname, '..');
export const BODY = { text: 'the quick brown fox jumps over the lazy dog' };
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

export async function withStores(work) {
  // With the memory that PostgreSQL takes if nothing is said.
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres('', '128MB')]);
  const dir = mkdtempSync(join(tmpdir(), 'ute-bench-state-'));
  const tools = join(dir, 'tools.yaml');
  writeFileSync(join(dir, 'sleep.mjs'), SLEEPER);
  const sleeper = {
    ...ECHO,
    input_schema: { type: 'object', properties: { ms: { type: 'integer', minimum: 0 } } },
    implementation_config: { handler: './sleep.mjs', trusted: true },
  };
  const list = [
    { ...ECHO, name: 'echo' },
    { ...ECHO, ...LIMITS, name: 'echo_limited' },
    { ...sleeper, name: 'nap' },
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
