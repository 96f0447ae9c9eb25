// Cache and fallback in running gateways: both doors, replicas on one Redis, a Redis that dies, and the records of it all.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { grpcDoor, restDoor, type Decision, type Door } from '../helpers/doors.ts';
import { startRedis, type RedisServer } from '../helpers/redis.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const TOOLS = ['test/fixtures/cache/tools.yaml'];

function caller(door: Door, gateway: RunningGateway, who: 'agent' | 'other' = 'agent') {
  const key = gateway.keys[who].text;
  return (tool: string, args: object, context: Record<string, string> = { session_id: 's1' }) =>
    door.call({ tool, argumentsJson: JSON.stringify(args), context, key });
}

const runsOf = (decision: Decision) => (decision.data as { run: number }).run;

describe('one gateway', () => {
  let gateway: RunningGateway;
  let doors: Record<'rest' | 'grpc', Door>;

  beforeAll(async () => {
    gateway = await startGateway({ tools: TOOLS });
    doors = { rest: restDoor(gateway), grpc: grpcDoor(gateway) };
  });

  afterAll(async () => {
    doors?.grpc.close();
    await gateway?.stop();
  });

  describe.each(['rest', 'grpc'] as const)('through %s', (name) => {
    it('gives an answer again, and says so', async () => {
      const call = caller(doors[name], gateway);
      const key = randomUUID();
      expect(await call('counted', { key })).toMatchObject({
        data: { run: 1 },
        meta: { cached: false, attempts: 1 },
      });
      expect(await call('counted', { key })).toMatchObject({
        data: { run: 1 },
        meta: { cached: true, attempts: 0 },
      });
      expect(await call('counted', { key }, { session_id: 's2' })).toMatchObject({ data: { run: 2 } });
      expect(await call('counted', { key }, {})).toMatchObject({ data: { run: 3 }, meta: { cached: false } });
    });

    it('gives a safe answer for a failure, and says so', async () => {
      const key = randomUUID();
      const decision = await caller(doors[name], gateway)('failing', { key });
      expect(decision).toMatchObject({
        ok: true,
        data: { topic: key, text: 'Shall I take a message?' },
        meta: { fallback: true, cached: false, attempts: 1 },
      });
    });

    it('gives a safe answer when the tool is late, and does not wait for it', async () => {
      const decision = await caller(doors[name], gateway)('hurried', { key: 'bookings', ms: 60_000 });
      expect(decision).toMatchObject({
        ok: true,
        data: { message: 'I cannot look up bookings right now.' },
        meta: { fallback: true },
      });
      expect(await caller(doors[name], gateway)('hurried', { key: randomUUID(), ms: 1 })).toMatchObject({
        data: { run: 1 },
        meta: { fallback: false },
      });
    });
  });

  it('shares what one door asked with the other', async () => {
    const key = randomUUID();
    await caller(doors.rest, gateway)('counted', { key });
    expect(await caller(doors.grpc, gateway)('counted', { key })).toMatchObject({ meta: { cached: true } });
  });

  it("gives no tenant another's answer", async () => {
    const key = randomUUID();
    await caller(doors.rest, gateway)('counted_tenant', { key });
    const theirs = await caller(doors.rest, gateway, 'other')('counted_tenant', { key });
    expect(theirs).toMatchObject({ data: { run: 2, tenant: 'umbrella' }, meta: { cached: false } });
  });

  it('runs a hundred equal calls once', async () => {
    const key = randomUUID();
    const calls = Array.from({ length: 100 }, (_each, index) =>
      caller(index % 2 === 0 ? doors.rest : doors.grpc, gateway)('slow', { key, ms: 300 }),
    );
    const decisions = await Promise.all(calls);
    expect(decisions.map(runsOf)).toEqual(Array.from({ length: 100 }, () => 1));
    expect(decisions.filter(({ meta }) => meta?.cached !== true)).toHaveLength(1);
  });

  it('gives no safe answer where something may have been done', async () => {
    const decision = await caller(doors.rest, gateway)('failing_action', { key: 'k' });
    expect(decision).toMatchObject({ ok: false, type: 'TRANSIENT', meta: { fallback: false } });
  });

  it('neither keeps an answer of a wrong shape nor passes it on', async () => {
    const call = caller(doors.rest, gateway);
    for (const _again of [1, 2]) {
      expect(await call('wrong', {})).toMatchObject({
        data: { opens: 'on weekdays at nine' },
        meta: { fallback: true, cached: false, attempts: 1 },
      });
    }
  });

  it('leaves what really happened in the audit and the metrics', async () => {
    const { auditSink } = gateway.service.infra.ports;
    const [written, offered] = [vi.spyOn(auditSink, 'write'), vi.spyOn(auditSink, 'offer')];
    await caller(doors.rest, gateway)('failing', { key: randomUUID() });
    const records = [
      ...written.mock.calls.map(([record]) => record),
      ...offered.mock.calls.map(([make]) => make()),
    ];
    expect(records.find(({ tool, outcome }) => tool === 'failing' && outcome !== '')).toMatchObject({
      outcome: 'ok',
      attempts: 1,
      notes: { fallback_for: 'TRANSIENT' },
    });
    const text = await (await fetch(gateway.service.metricsUrl)).text();
    expect(text).toMatch(/ute_fallbacks_total\{tool="failing",type="TRANSIENT"\} [1-9]/);
    expect(text).toMatch(/ute_cache_requests_total\{tool="counted",result="hit"\} [1-9]/);
  });
});

describe('replicas on one Redis', () => {
  let redis: RedisServer;
  let replicas: RunningGateway[];

  beforeAll(async () => {
    redis = await startRedis();
    const settings = { redis: { url: redis.url } };
    replicas = await Promise.all([1, 2].map(() => startGateway({ tools: TOOLS, settings })));
  });

  afterAll(async () => {
    await Promise.all((replicas ?? []).map((each) => each.stop()));
    await redis?.stop();
  });

  function callers() {
    const [one, two] = replicas.map((gateway) => caller(restDoor(gateway), gateway));
    if (one === undefined || two === undefined) throw new Error('there are two replicas');
    return [one, two] as const;
  }

  it('give what one of them asked', async () => {
    const key = randomUUID();
    const [one, two] = callers();
    await one('counted', { key });
    // The first does not wait for Redis before it answers.
    await expect.poll(async () => (await two('counted', { key })).meta?.cached).toBe(true);
  });

  // A replica waits for another for two seconds at most, which a busy machine may need for a hundred calls: then it tries again.
  it('run a hundred equal calls once, all together', { retry: 4 }, async () => {
    const key = randomUUID();
    const calls = Array.from({ length: 50 }, () => callers().map((call) => call('slow', { key, ms: 300 })));
    const decisions = await Promise.all(calls.flat());
    expect(new Set(decisions.map(runsOf))).toEqual(new Set([1]));
  });

  it('answer without delay when Redis stops answering', async () => {
    const [one] = callers();
    await one('counted', { key: randomUUID() });
    redis.pause();
    for (let index = 0; index < 5; index += 1) {
      const decision = await one('counted', { key: randomUUID() });
      expect(decision).toMatchObject({ ok: true, meta: { degraded: ['cache'] } });
    }
    redis.resume();
    await redis.client.ping();
  });

  it('answer when Redis is killed in mid-run, and say that they work without it', async () => {
    const key = randomUUID();
    const [one] = callers();
    const running = one('slow', { key, ms: 300 });
    await redis.kill();
    expect(await running).toMatchObject({ ok: true });
    const without = await one('counted', { key: randomUUID() });
    expect(without).toMatchObject({
      ok: true,
      data: { run: 1 },
      meta: { cached: false, degraded: ['cache'] },
    });
    const many = await Promise.all(
      Array.from({ length: 20 }, () => one('slow', { key: `${key}-2`, ms: 100 })),
    );
    expect(many.filter(({ ok }) => ok)).toHaveLength(20);
    expect(new Set(many.map(runsOf))).toEqual(new Set([1]));
    await redis.restart();
    const again = randomUUID();
    await expect.poll(async () => (await one('counted', { key: again })).meta?.cached).toBe(true);
  });
});
