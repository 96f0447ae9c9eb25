// Recording and replaying whole gateways: what else is in the pipeline behaves in earnest, and nothing leaks into stores.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const TOOLS = ['test/fixtures/recording/tools.yaml'];

interface Envelope {
  readonly ok: boolean;
  readonly data?: { readonly calls: number };
  readonly error?: {
    readonly type: string;
    readonly reason: string;
    readonly details: { readonly confirmation_token?: string; readonly approval_id?: string };
  };
  readonly meta: { readonly recorded?: boolean; readonly cached: boolean; readonly replayed: boolean };
}

let dir: string;
let file: string;
let session: Session;
const running: RunningGateway[] = [];

async function gatewayWith(settings: Record<string, unknown> = {}): Promise<RunningGateway> {
  const gateway = await startGateway({ tools: TOOLS, settings });
  running.push(gateway);
  return gateway;
}

const replaying = (replay: object = {}, settings: object = {}) =>
  gatewayWith({ replay: { file, ...replay }, ...settings });

async function call(gateway: RunningGateway, tool: string, args: object = {}, context: object = {}) {
  const body = { arguments: args, context };
  return (await request<Envelope>(targetOf(gateway, 'agent'), 'POST', `/v1/tools/${tool}/execute`, body))
    .body;
}

async function approved(gateway: RunningGateway, args: object): Promise<Envelope> {
  const asked = await call(gateway, 'pay', args);
  const { approval_id: id, confirmation_token: token } = asked.error?.details ?? {};
  await request(targetOf(gateway), 'POST', `/v1/approvals/${id}/decision`, { decision: 'approve' });
  return call(gateway, 'pay', args, { confirmation_token: token });
}

/** What the gateway that was recorded said. */
interface Session {
  readonly started: unknown;
  readonly answers: readonly Envelope[];
  readonly list: unknown;
  readonly contentType: string | null;
  readonly deleted: unknown;
  readonly listAfter: unknown;
}

/** Makes a session of calls while it is recorded, and leaves the recording in `file`. */
async function recordSession(live: RunningGateway): Promise<Session> {
  const admin = targetOf(live);
  const started = await request(admin, 'POST', '/v1/admin/recordings', { name: 'session' });
  const answers = [
    await call(live, 'count'),
    await call(live, 'look_up'),
    await call(live, 'look_up'),
    await approved(live, { amount: 5 }),
    await call(live, 'broken'),
    await call(live, 'twice'),
    await call(live, 'count', { by: 7 }, { idempotency_key: 'k-1' }),
    await call(live, 'count', { by: 7 }, { idempotency_key: 'k-1' }),
    await call(live, 'count', { unknown: 1 }),
  ];
  const list = await request(admin, 'GET', '/v1/admin/recordings');
  await request(admin, 'POST', '/v1/admin/recordings/session/stop', {});
  const headers = { authorization: `Bearer ${admin.key}` };
  const response = await fetch(`${live.url}/v1/admin/recordings/session`, { headers });
  writeFileSync(file, await response.text());
  const deleted = await request(admin, 'DELETE', '/v1/admin/recordings/session');
  const listAfter = await request(admin, 'GET', '/v1/admin/recordings');
  return { started, answers, list, contentType: response.headers.get('content-type'), deleted, listAfter };
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ute-replay-'));
  file = join(dir, 'session.jsonl');
  const live = await startGateway({ tools: TOOLS });
  session = await recordSession(live);
  await live.stop();
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((gateway) => gateway.stop()));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('a gateway that replays', () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ tools: TOOLS, settings: { replay: { file } } });
  });
  beforeEach(() => request(targetOf(gateway), 'POST', '/v1/admin/replay/rewind', {}));
  afterAll(() => gateway?.stop());

  it('gives what was answered, cached and failed answers and composites too, and approves in earnest', async () => {
    expect(await call(gateway, 'count')).toMatchObject({ data: { calls: 1 }, meta: { recorded: true } });
    expect(await call(gateway, 'look_up')).toMatchObject({
      data: { calls: 2 },
      meta: { recorded: true, cached: false },
    });
    expect(await call(gateway, 'look_up')).toMatchObject({ data: { calls: 2 } });
    expect(await approved(gateway, { amount: 5 })).toMatchObject({
      data: { calls: 3 },
      meta: { recorded: true },
    });
    expect(await call(gateway, 'broken')).toMatchObject({
      ok: false,
      error: { type: 'TRANSIENT', retryable: true, origin: 'tool', message: 'the till is jammed' },
    });
    expect(await call(gateway, 'twice')).toMatchObject({ ok: true, meta: { recorded: true } });
    expect(await call(gateway, 'count', { by: 7 })).toMatchObject({ data: { calls: 6 } });
    expect(await call(gateway, 'count', { by: 7 })).toMatchObject({ data: { calls: 6 } });
    const report = await request(targetOf(gateway), 'GET', '/v1/admin/replay');
    expect(report.body).toMatchObject({
      recorded: 8,
      asked: 8,
      answered: 8,
      missed: 0,
      not_asked_count: 0,
      definitions_changed: [],
    });
  });

  it('refuses in earnest what does not fit, is not allowed, or waits for approval', async () => {
    expect(await call(gateway, 'count', { unknown: 1 })).toMatchObject({ error: { type: 'VALIDATION' } });
    expect(await call(gateway, 'pay', { amount: 6 })).toMatchObject({
      error: { type: 'CONFIRMATION_REQUIRED' },
    });
    expect(await call(gateway, 'nothing')).toMatchObject({
      error: { type: 'NOT_FOUND', reason: 'TOOL_NOT_FOUND' },
    });
    expect(await approved(gateway, { amount: 6 })).toMatchObject({
      error: { type: 'NOT_FOUND', reason: 'NOT_RECORDED' },
      meta: { recorded: false },
    });
  });

  it('says at the end what was not asked for, and what was not recorded', async () => {
    await call(gateway, 'count');
    await call(gateway, 'count', { by: 8 });
    await call(gateway, 'count', { by: 8 });
    const { body } = await request<{ not_asked: { order: number; tool: string }[] }>(
      targetOf(gateway),
      'POST',
      '/v1/admin/replay/rewind',
      {},
    );
    expect(body).toMatchObject({
      answered: 1,
      missed: 2,
      not_asked_count: 7,
      not_recorded_count: 1,
      not_recorded: [{ tool: 'count', arguments: '{"by":8}', times: 2 }],
    });
    expect(body.not_asked.map(({ tool }) => tool)).toEqual([
      'look_up',
      'look_up',
      'pay',
      'broken',
      'twice',
      'count',
      'count',
    ]);
    expect(await request(targetOf(gateway), 'GET', '/v1/admin/replay')).toMatchObject({
      body: { asked: 0, not_asked_count: 8 },
    });
  });

  it('calls what was not recorded where that is wanted, with keys and caches that hold no recorded answer', async () => {
    const calling = await replaying({ on_miss: 'call', on_repeat: 'miss' });
    expect(await call(calling, 'look_up')).toMatchObject({ data: { calls: 2 }, meta: { recorded: true } });
    expect(await call(calling, 'look_up')).toMatchObject({ data: { calls: 2 }, meta: { recorded: true } });
    const key = { idempotency_key: 'k-1' };
    expect(await call(calling, 'count', {}, key)).toMatchObject({
      data: { calls: 1 },
      meta: { recorded: true },
    });
    // The recording has nothing more: the tool runs, neither a cache nor the key gives a recorded answer again.
    const really = await call(calling, 'look_up');
    expect(really).toMatchObject({ ok: true, meta: { recorded: false, cached: false } });
    expect(await call(calling, 'look_up')).toMatchObject({
      data: really.data,
      meta: { recorded: false, cached: true },
    });
    const ran = await call(calling, 'count', {}, key);
    expect(ran).toMatchObject({ ok: true, meta: { recorded: false, replayed: false } });
    expect(await call(calling, 'count', {}, key)).toMatchObject({
      data: ran.data,
      meta: { recorded: false, replayed: true },
    });
  });

  it('answers accepted calls from the recording, too', async () => {
    const agent = targetOf(gateway, 'agent');
    const id = await acceptedId(agent, 'count');
    const ended = await callWhen(agent, id, ({ status }) => status === 'succeeded');
    expect(ended.result).toMatchObject({ data: { calls: 1 } });
    expect(await request(targetOf(gateway), 'GET', '/v1/admin/replay')).toMatchObject({
      body: { answered: 1 },
    });
  });

  it('does not start on a recording that cannot be read, or a pipeline that would not ask it', async () => {
    const broken = join(dir, 'broken.jsonl');
    writeFileSync(broken, '{"ute_recording":1,"name":"x","started_at":"","seal_id":""}\n{"order":\n');
    await expect(gatewayWith({ replay: { file: broken } })).rejects.toThrow(
      /broken\.jsonl:2: is not valid JSON/,
    );
    await expect(gatewayWith({ replay: { file: join(dir, 'none.jsonl') } })).rejects.toThrow(
      /the recording cannot be read/,
    );
    await expect(replaying({}, { pipeline: { tool: ['validation', 'cache'] } })).rejects.toThrow(
      /pipeline\.tool: names no "replay"/,
    );
  });
});

describe('a gateway that records', () => {
  it('tells what it records, hands the file over, and forgets it when told to', () => {
    const { started, answers, list, contentType, deleted, listAfter } = session;
    expect(started).toMatchObject({ status: 200, body: { status: 'running', tenant_id: 'acme', calls: 0 } });
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, true, false, true, true, true, false]);
    expect([answers[2]?.meta.cached, answers[7]?.meta.replayed]).toEqual([true, true]);
    expect(list).toMatchObject({ body: { recordings: [{ name: 'session', status: 'running', calls: 8 }] } });
    expect(contentType).toBe('application/jsonl; charset=utf-8');
    expect([deleted, listAfter]).toMatchObject([{ status: 200 }, { body: { recordings: [] } }]);
  });

  it('begins with it where gateway.yaml says so, and ends when the gateway does', async () => {
    const start = [{ name: 'nightly', tools: ['cou*'], max_calls: 5 }];
    const gateway = await gatewayWith({ recording: { start } });
    await call(gateway, 'count');
    await call(gateway, 'look_up');
    const { body } = await request<{ recordings: { name: string }[] }>(
      targetOf(gateway),
      'GET',
      '/v1/admin/recordings',
    );
    expect(body.recordings).toMatchObject([
      { name: expect.stringMatching(/^nightly-\d{8}T\d{6}Z$/), status: 'running', calls: 1, tools: ['cou*'] },
    ]);
    await gateway.service.stop();
    expect(readdirSync(join(gateway.dir, 'data', 'recordings')).toSorted()).toEqual([
      `${body.recordings[0]?.name}.jsonl`,
      'seal.key',
    ]);
  });

  it('begins none where recordings are switched off, and replays none where nothing is to be replayed', async () => {
    const gateway = await gatewayWith({ recording: { enabled: false } });
    const admin = targetOf(gateway);
    expect(await request(admin, 'POST', '/v1/admin/recordings', { name: 'x' })).toMatchObject({
      status: 503,
      body: { reason: 'RECORDINGS_OFF' },
    });
    expect(await request(admin, 'GET', '/v1/admin/replay')).toMatchObject({
      status: 404,
      body: { reason: 'NO_REPLAY' },
    });
    expect(await call(gateway, 'count')).toMatchObject({
      ok: true,
      meta: expect.not.objectContaining({ recorded: expect.anything() }),
    });
  });
});
