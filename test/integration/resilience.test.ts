// Breakers and shedding in a running gateway, against real HTTP upstreams that fail.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { callTool, request, targetOf, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir, writeTools } from '../helpers/temp-tools.ts';
import { eventually } from '../helpers/eventually.ts';

interface Circuit {
  readonly upstream: string;
  readonly state: string;
  readonly retry_after_ms: number;
  readonly failures_in_a_row: number;
}

const servers = new LoopbackServers();
let dir: string;
let gateway: RunningGateway | undefined;

beforeEach(() => {
  dir = tempDir();
});

afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
  await servers.close();
  removeDir(dir);
});

/** An upstream that answers with the status it is told to, and notes what it was sent. */
async function upstream() {
  const said = { status: 200, calls: 0, timeoutHeader: undefined as string | string[] | undefined };
  const origin = await servers.http((incoming, response) => {
    said.calls += 1;
    said.timeoutHeader = incoming.headers['x-request-timeout-ms'];
    response.writeHead(said.status, { 'content-type': 'application/json' }).end('{"well":true}');
  });
  return { said, origin, name: `http:${new URL(origin).host}` };
}

function httpTool(name: string, origin: string, ...more: string[]): string {
  return [
    `  - name: ${name}`,
    `    description: Asks an upstream`,
    `    tool_type: http`,
    `    implementation_config: { url: "${origin}/${name}", allow_private: ["127.0.0.0/8"], allow_ports: ["1-65535"] }`,
    ...more.map((line) => `    ${line}`),
    '',
  ].join('\n');
}

async function started(tools: string, settings: Record<string, unknown> = {}): Promise<RestTarget> {
  gateway = await startGateway({ tools: [tools], settings });
  return targetOf(gateway);
}

async function circuitsOf(target: RestTarget): Promise<readonly Circuit[]> {
  return (await request<{ circuits: Circuit[] }>(target, 'GET', '/v1/admin/circuits')).body.circuits;
}

/** With the headers, which the other calls of these tests do not need. */
async function rawCall({ url, key }: RestTarget, tool: string) {
  const response = await fetch(`${url}/v1/tools/${tool}/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  });
  const body = (await response.json()) as Envelope;
  return { response, body };
}

async function metricsText(): Promise<string> {
  return (await fetch(gateway?.service.metricsUrl ?? '')).text();
}

describe('a circuit breaker', () => {
  it('opens on an upstream that fails, spares it, leaves others alone, and closes when it is back', async () => {
    const bad = await upstream();
    const good = await upstream();
    const target = await started(
      writeTools(
        dir,
        httpTool('ask', bad.origin),
        httpTool('tell', bad.origin),
        httpTool('other', good.origin),
      ),
    );
    bad.said.status = 503;
    for (let call = 0; call < 5; call += 1) {
      expect((await callTool(target, 'ask')).body.error).toMatchObject({
        type: 'TRANSIENT',
        reason: 'HTTP_503',
      });
    }
    // The breaker is the upstream's: another tool of the same host is refused as well, and nothing is sent.
    const refused = await rawCall(target, 'tell');
    expect(refused.response.status).toBe(503);
    expect(Number(refused.response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.response.headers.get('retry-after'))).toBeLessThanOrEqual(5);
    expect(refused.body).toMatchObject({
      ok: false,
      error: { type: 'UNAVAILABLE', reason: 'CIRCUIT_OPEN', retryable: true, partial_side_effects: false },
      meta: { attempts: 0 },
    });
    expect(JSON.stringify(refused.body)).not.toContain('127.0.0.1');
    expect(bad.said.calls).toBe(5);
    expect((await callTool(target, 'other')).body).toMatchObject({ ok: true, data: { well: true } });
    expect(await metricsText()).toContain(`ute_circuit_state{upstream="${bad.name}"} 2`);

    bad.said.status = 200;
    await eventually(async () => expect((await callTool(target, 'ask')).body.ok).toBe(true));
    for (let probe = 0; probe < 2; probe += 1) expect((await callTool(target, 'tell')).body.ok).toBe(true);
    expect(await circuitsOf(target)).toContainEqual(
      expect.objectContaining({ upstream: bad.name, state: 'closed', failures_in_a_row: 0 }),
    );
    expect(await metricsText()).toContain(`ute_circuit_state{upstream="${bad.name}"} 0`);
  });

  it('does not open on answers that are no failure of the upstream', async () => {
    const { said, origin, name } = await upstream();
    const target = await started(writeTools(dir, httpTool('ask', origin)));
    for (const status of [404, 400, 429, 401, 302, 409, 403]) {
      said.status = status;
      expect((await callTool(target, 'ask')).body.ok).toBe(false);
    }
    expect(await circuitsOf(target)).toContainEqual(
      expect.objectContaining({ upstream: name, state: 'closed' }),
    );
  });

  it('opens when there is nobody at the other end', async () => {
    const { origin, name } = await upstream();
    await servers.close();
    const target = await started(writeTools(dir, httpTool('ask', origin)));
    for (let call = 0; call < 5; call += 1) {
      expect((await callTool(target, 'ask')).body.error).toMatchObject({ reason: 'CONNECT_FAILED' });
    }
    expect((await callTool(target, 'ask')).body.error).toMatchObject({ reason: 'CIRCUIT_OPEN' });
    expect(await circuitsOf(target)).toMatchObject([{ upstream: name, state: 'open' }]);
  });

  it('is isolated and reset by an operator, and by nobody else', async () => {
    const { said, origin, name } = await upstream();
    const target = await started(writeTools(dir, httpTool('ask', origin)));
    const lever = (who: RestTarget, action: string, which = name) =>
      request<Circuit & { code?: string }>(
        who,
        'POST',
        `/v1/admin/circuits/${encodeURIComponent(which)}/${action}`,
      );
    expect((await lever(target, 'isolate')).body).toMatchObject({ upstream: name, state: 'isolated' });
    expect((await callTool(target, 'ask')).body.error).toMatchObject({ reason: 'CIRCUIT_OPEN' });
    expect(said.calls).toBe(0);
    expect((await lever(target, 'reset')).body).toMatchObject({ state: 'closed', retry_after_ms: 0 });
    expect((await callTool(target, 'ask')).body.ok).toBe(true);
    expect(await lever(target, 'isolate', 'http:nobody:80')).toMatchObject({ status: 404 });
    const agent = gateway === undefined ? target : targetOf(gateway, 'agent');
    expect(await lever(agent, 'isolate')).toMatchObject({ status: 403, body: { code: 'PERMISSION_DENIED' } });
    expect(await request(agent, 'GET', '/v1/admin/circuits')).toMatchObject({ status: 403 });
  });
});

describe('a connection that propagates the deadline', () => {
  it('tells the upstream what is left of the time', async () => {
    const { said, origin } = await upstream();
    const path = join(dir, 'tools.yaml');
    const tool = (name: string, connection: string) =>
      `  - { name: ${name}, description: Asks, tool_type: http, timeout_ms: 4000, implementation_config: { connection: ${connection}, path: / } }\n`;
    writeFileSync(
      path,
      'connections:\n' +
        `  told: { type: http, base_url: "${origin}", allow_private: ["127.0.0.0/8"], allow_ports: ["1-65535"], propagate_deadline: true }\n` +
        `  untold: { type: http, base_url: "${origin}", allow_private: ["127.0.0.0/8"], allow_ports: ["1-65535"] }\n` +
        `tools:\n${tool('hurry', 'told')}${tool('relax', 'untold')}`,
    );
    const target = await started(path);
    expect((await callTool(target, 'hurry')).body.ok).toBe(true);
    expect(Number(said.timeoutHeader)).toBeGreaterThan(0);
    expect(Number(said.timeoutHeader)).toBeLessThanOrEqual(4_000);
    await callTool(target, 'relax');
    expect(said.timeoutHeader).toBeUndefined();
  });
});

describe('load shedding', () => {
  it('refuses the less important call when the places for calls in flight run out', async () => {
    const waiting: (() => void)[] = [];
    const origin = await servers.http((_incoming, response) => {
      waiting.push(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
    });
    const tools = ['low', 'normal', 'high'].map((priority) =>
      httpTool(`ask_${priority}`, origin, `priority: ${priority}`),
    );
    const target = await started(writeTools(dir, ...tools), { limits: { max_inflight_calls: 5 } });
    // Three of five places: as many as calls of low priority may fill.
    const running = [1, 2, 3].map(() => callTool(target, 'ask_normal'));
    await eventually(() => expect(waiting).toHaveLength(3));
    const low = await rawCall(target, 'ask_low');
    expect(low.response.status).toBe(503);
    expect(low.response.headers.get('retry-after')).not.toBeNull();
    expect(low.body.error).toMatchObject({ type: 'UNAVAILABLE', reason: 'OVERLOADED', retryable: true });
    running.push(callTool(target, 'ask_normal'));
    await eventually(() => expect(waiting).toHaveLength(4));
    expect((await callTool(target, 'ask_normal')).body.error).toMatchObject({ reason: 'OVERLOADED' });
    running.push(callTool(target, 'ask_high'));
    await eventually(() => expect(waiting).toHaveLength(5));
    expect((await callTool(target, 'ask_high')).body.error).toMatchObject({ reason: 'OVERLOADED' });
    expect((await request(target, 'GET', '/readyz')).status).toBe(200);
    expect((await request(target, 'GET', '/v1/admin/circuits')).status).toBe(200);
    const metrics = await metricsText();
    for (const priority of ['low', 'normal', 'high']) {
      expect(metrics).toContain(`ute_shed_calls_total{priority="${priority}"} 1`);
      // It passed the whole request stage: what is refused is counted, logged and audited like any other call.
      expect(metrics).toContain(`ute_tool_call_errors_total{tool="ask_${priority}",type="UNAVAILABLE"} 1`);
    }
    for (const answer of waiting) answer();
    expect((await Promise.all(running)).map(({ body }) => body.ok)).toEqual([true, true, true, true, true]);
    expect(waiting).toHaveLength(5);
  });
});
