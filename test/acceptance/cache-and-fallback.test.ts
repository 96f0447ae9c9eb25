// Attacks on cached answers and safe answers: other callers' answers, planted bytes, floods, and ways around approval.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { restDoor, type Decision } from '../helpers/doors.ts';
import { startRedis, type RedisServer } from '../helpers/redis.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const TOOLS = ['test/fixtures/cache/tools.yaml'];
const MAX_CACHE_BYTES = 20_000;

let redis: RedisServer;
let gateway: RunningGateway;

beforeAll(async () => {
  redis = await startRedis();
  gateway = await startGateway({
    tools: TOOLS,
    settings: {
      // A busy machine is no Redis that is away: what could not be kept then is not kept later.
      redis: { url: redis.url, prefix: 'attacked', command_timeout_ms: 5_000 },
      limits: { max_cache_bytes: MAX_CACHE_BYTES },
    },
  });
});

afterAll(async () => {
  await gateway?.stop();
  await redis?.stop();
});

function call(
  tool: string,
  args: object,
  context: Record<string, string> = { session_id: 's1' },
  who: 'agent' | 'other' = 'agent',
): Promise<Decision> {
  const argumentsJson = JSON.stringify(args);
  return restDoor(gateway).call({ tool, argumentsJson, context, key: gateway.keys[who].text });
}

const entries = () => redis.client.keys('attacked:cache:entry:*');

/** Calls the tool until its answer is in Redis; gives the key of the entry. */
async function keptEntry(tool: string, args: object): Promise<string> {
  await redis.client.flushall();
  await call(tool, args);
  await expect.poll(async () => (await entries()).length).toBe(1);
  const [key] = await entries();
  if (key === undefined) throw new Error('nothing was kept');
  return key;
}

describe("another's answer", () => {
  it("a caller of another tenant who names a session of ours does not get the session's answers", async () => {
    const key = randomUUID();
    expect(await call('counted', { key })).toMatchObject({ data: { run: 1, tenant: 'acme' } });
    const theirs = await call('counted', { key }, { session_id: 's1' }, 'other');
    expect(theirs).toMatchObject({ data: { run: 2, tenant: 'umbrella' }, meta: { cached: false } });
  });

  it('a session id made to look like a tenant, a separator or an agent meets no entry of another', async () => {
    const key = randomUUID();
    const contexts: Record<string, string>[] = [
      { session_id: 's1' },
      { session_id: 's1', agent_id: 'a' },
      { session_id: '["acme","s1"]' },
      { session_id: 's1"]' },
      { session_id: 'acme:s1' },
      { session_id: 's1', user_id: 'u' },
    ];
    for (const context of contexts) {
      expect(await call('counted', { key }, context)).toMatchObject({ ok: true, meta: { cached: false } });
    }
  });

  it('arguments that are equal to the eye and not to the byte are different calls', async () => {
    const id = randomUUID();
    for (const key of [`${id}é`, `${id}e\u0301`, `${id}é\u200D`, `${id}é\u200B`, ` ${id}é`]) {
      expect(await call('counted', { key })).toMatchObject({ ok: true, meta: { cached: false } });
    }
  });

  it('a caller without the permission gets no cached answer', async () => {
    const key = randomUUID();
    await call('counted', { key });
    const argumentsJson = JSON.stringify({ key });
    const { text } = gateway.keys.reader;
    const refused = await restDoor(gateway).call({
      tool: 'counted',
      argumentsJson,
      context: { session_id: 's1' },
      key: text,
    });
    expect(refused).toMatchObject({ ok: false, type: 'PERMISSION_DENIED' });
  });
});

describe('what stands in Redis', () => {
  it.each([
    ['garbage', 'garbage'],
    ['a bomb of brackets', `{"v":1,"data":${'['.repeat(60_000)}}`],
    ['an entry with a second member', '{"v":1,"data":1,"ok":false}'],
    ['half an entry', '{"v":1,"data":{"run":'],
    ['bytes that are no text', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ['something endlessly long', Buffer.alloc(8 << 20, 0x20)],
  ])('%s planted under a key is not answered, and the tool runs', async (_what, planted) => {
    const args = { key: randomUUID() };
    const key = await keptEntry('counted', args);
    await redis.client.set(key, planted, 'PX', 60_000);
    expect(await call('counted', args)).toMatchObject({
      data: { run: 2 },
      meta: { cached: false, degraded: [] },
    });
    await expect.poll(async () => (await call('counted', args)).meta?.cached).toBe(true);
  });

  it('a list planted under a key is not answered, and the tool runs', async () => {
    const args = { key: randomUUID() };
    const key = await keptEntry('counted', args);
    await redis.client.del(key);
    await redis.client.rpush(key, '{"v":1,"data":1}');
    expect(await call('counted', args)).toMatchObject({ data: { run: 2 }, meta: { cached: false } });
  });

  it('a planted answer with __proto__ in it changes no prototype', async () => {
    const args = { key: randomUUID() };
    const key = await keptEntry('counted', args);
    await redis.client.set(key, '{"v":1,"data":{"__proto__":{"polluted":true},"run":1}}', 'PX', 60_000);
    expect(await call('counted', args)).toMatchObject({ ok: true });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('shows neither tenants, sessions nor arguments in its keys', async () => {
    const key = await keptEntry('counted', { key: 'secret-argument' });
    expect(key).toMatch(/^attacked:cache:entry:[\w-]{43}$/);
  });

  it('a flood of different arguments fills neither Redis nor its own bound', async () => {
    await redis.client.flushall();
    const key = 'x'.repeat(60);
    for (let start = 0; start < 400; start += 40) {
      const flood = Array.from({ length: 40 }, (_each, at) =>
        call('counted', { key: `${key}${start + at}` }),
      );
      expect((await Promise.all(flood)).filter(({ ok }) => !ok)).toEqual([]);
    }
    await expect.poll(async () => (await entries()).length).toBeGreaterThan(10);
    let bytes = 0;
    for (const entry of await entries()) bytes += 43 + (await redis.client.strlen(entry));
    expect(bytes).toBeLessThanOrEqual(MAX_CACHE_BYTES);
    const [ends, sizes] = [
      redis.client.zcard('attacked:cache:ends'),
      redis.client.hlen('attacked:cache:sizes'),
    ];
    expect([await ends, await sizes]).toEqual([(await entries()).length, (await entries()).length]);
  });
});

describe('equal calls at once', () => {
  it('a leader that hangs up takes nobody with it', async () => {
    const args = { key: randomUUID(), ms: 400 };
    const leader = new AbortController();
    const url = `${gateway.url}/v1/tools/slow/execute`;
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${gateway.keys.agent.text}`,
    };
    const body = JSON.stringify({ arguments: args });
    const hung = fetch(url, { method: 'POST', headers, body, signal: leader.signal }).catch(() => 'gone');
    await pause(100);
    const followers = [1, 2, 3].map(() => call('slow', args));
    await pause(50);
    leader.abort();
    expect(await hung).toBe('gone');
    const decisions = await Promise.all(followers);
    expect(decisions.map(({ ok, data }) => ({ ok, data }))).toEqual(
      decisions.map(() => ({ ok: true, data: { run: 2 } })),
    );
  });

  it('a follower with little time is not held beyond it', async () => {
    const args = { key: randomUUID(), ms: 3_000 };
    const leading = call('slow', args);
    await pause(100);
    const argumentsJson = JSON.stringify(args);
    const { text: key } = gateway.keys.agent;
    const follower = await restDoor(gateway).call({ tool: 'slow', argumentsJson, key, timeoutMs: 200 });
    expect(follower).toMatchObject({ ok: false, type: 'TIMEOUT' });
    // It never got as far as the tool.
    expect(follower.meta).toMatchObject({ attempts: 0 });
    expect(await leading).toMatchObject({ ok: true, data: { run: 1 } });
  });
});

describe('around approval', () => {
  it('an approved answer is not given to calls that nobody approved', async () => {
    const careful = await startGateway({
      tools: TOOLS,
      settings: { extensions: { approval: { mode: 'always' } } },
    });
    try {
      const door = restDoor(careful);
      const base = { tool: 'counted', argumentsJson: '{"key":"approved"}', key: careful.keys.agent.text };
      const asked = await door.call({ ...base, context: { session_id: 's1' } });
      const { approval_id: id, confirmation_token: token = '' } = asked.details as Record<string, string>;
      await fetch(`${careful.url}/v1/approvals/${id}/decision`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${careful.keys.admin.text}` },
        body: '{"decision":"approve"}',
      });
      const approved = await door.call({ ...base, context: { session_id: 's1', confirmation_token: token } });
      expect(approved).toMatchObject({ ok: true, meta: { cached: false } });
      const again = await door.call({ ...base, context: { session_id: 's1' } });
      expect(again).toMatchObject({ ok: false, type: 'CONFIRMATION_REQUIRED' });
    } finally {
      await careful.stop();
    }
  });
});

describe('safe answers', () => {
  it('an argument that looks like a template, a script or an expression stays text', async () => {
    for (const key of [
      '{ms}',
      '{{key}}',
      '${process.env.HOME}',
      '<script>alert(1)</script>',
      '$& $1',
      '`id`',
    ]) {
      const decision = await call('hurried', { key, ms: 30_000 });
      expect(decision.data).toEqual({ message: `I cannot look up ${key} right now.` });
    }
  });

  it('an argument of a hundred kilobytes does not come back in the answer', async () => {
    const decision = await call('hurried', { key: 'x'.repeat(90_000), ms: 30_000 });
    expect(JSON.stringify(decision.data).length).toBeLessThan(1_200);
  });
});

describe('declarations', () => {
  it.each([
    ['a cache on a tool that writes', 'cache: { ttl_ms: 5 }', '', 9, 'only a read-only tool is cached'],
    [
      'a cache on a tool that waits for approval',
      'cache: { ttl_ms: 5 }',
      'category: retrieval, is_dangerous: true',
      9,
      'waits for approval',
    ],
    [
      'a safe answer with a foreign placeholder',
      "fallback: { message: 'Hi {ney}' }",
      '',
      9,
      'did you mean {key}?',
    ],
  ])('%s is refused at load, with its place', async (_what, extension, metadata, line, sentence) => {
    const dir = mkdtempSync(join(tmpdir(), 'ute-declared-'));
    try {
      const file = join(dir, 'tools.yaml');
      const handler = resolve(import.meta.dirname, '../fixtures/cache/handlers.js');
      writeFileSync(
        file,
        `tools:
  - name: t
    description: A tool
    tool_type: javascript
    input_schema: { type: object, properties: { key: { type: string } }, required: [key] }
    implementation_config: { handler: ${JSON.stringify(handler)}, export: counted, trusted: true }
    metadata: { ${metadata} }
    extensions:
      ${extension}
`,
      );
      let out = '';
      const io = {
        stdout: (text: string) => void (out += text),
        stderr: (text: string) => void (out += text),
      };
      const code = await run(['validate', file, '--json'], {
        ...io,
        cwd: dir,
        env: {},
        fetch,
        readStdin: async () => '',
      });
      const { problems } = JSON.parse(out) as {
        problems: { line: number; column: number; message: string }[];
      };
      expect(code).toBe(1);
      expect(problems).toMatchObject([{ line, message: expect.stringContaining(sentence) }]);
      expect(problems[0]?.column).toBeGreaterThan(6);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
