// Calls that pin a version: they run it after a change and after a restart, on every replica, under the policy in force.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { request, targetOf, type Answer, type Envelope } from '../helpers/rest-client.ts';
import type { RunningGateway } from '../helpers/running-gateway.ts';
import {
  echoFile,
  edition,
  putSpec,
  specRequest,
  startKeeping,
  type KeptTools,
} from '../helpers/specs-kit.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { eventually } from '../helpers/eventually.ts';

let dir: string;
let postgres: Postgres;
let gateways: RunningGateway[];

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());
beforeEach(() => {
  dir = tempDir();
  gateways = [];
});
afterEach(async () => {
  await Promise.all(gateways.map((each) => each.stop()));
  await postgres.sql('TRUNCATE tool_heads, tool_versions, tool_changes').catch(() => undefined);
  removeDir(dir);
});

async function started(over: Partial<KeptTools> = {}): Promise<RunningGateway> {
  const { file = echoFile(dir), ...rest } = over;
  const gateway = await startKeeping({
    file,
    database: postgres.url(),
    loader: { interval: '500ms' },
    ...rest,
  });
  gateways.push(gateway);
  return gateway;
}

async function stopped(gateway: RunningGateway): Promise<void> {
  gateways = gateways.filter((each) => each !== gateway);
  await gateway.stop();
}

type Called = Answer<Envelope & { readonly meta: { readonly tool_version: string } }>;

function call(
  gateway: RunningGateway,
  tool: string,
  version?: string,
  who: 'admin' | 'agent' = 'admin',
): Promise<Called> {
  const context = version === undefined ? {} : { tool_version: version };
  return request(targetOf(gateway, who), 'POST', `/v1/tools/${tool}/execute`, { arguments: {}, context });
}

const said = async (...of: Parameters<typeof call>) => (await call(...of)).body.data;
const versioned = (value: number, over: Record<string, unknown> = {}) =>
  edition(value, { metadata: { version: `${value}.0.0` }, ...over });
const hashOf = async (gateway: RunningGateway, tool: string) =>
  (await request<{ content_hash: string }>(targetOf(gateway), 'GET', `/v1/tools/${tool}`)).body.content_hash;

describe('a pinned call', () => {
  it('runs its version after a later change, on every replica, and after a restart', async () => {
    const one = await started();
    const { body: first } = await putSpec(targetOf(one), 'greet', versioned(1));
    expect(await hashOf(one, 'greet')).toBe(first.content_hash);
    await putSpec(targetOf(one), 'greet', versioned(2));
    const two = await started();
    for (const each of [one, two]) {
      expect(await said(each, 'greet')).toBe(2);
      expect(await said(each, 'greet', first.content_hash)).toBe(1);
      expect(await said(each, 'greet', '1.0.0')).toBe(1);
      expect((await call(each, 'greet', '1.0.0')).body.meta.tool_version).toBe('1.0.0');
      expect(await said(each, 'greet', '2.0.0')).toBe(2);
    }
    await Promise.all([stopped(one), stopped(two)]);
    const again = await started();
    expect(await said(again, 'greet', first.content_hash)).toBe(1);
  });

  it('holds for tools of files as well, after a change of the file and a restart', async () => {
    const tool = (says: number) => `  - ${JSON.stringify({ name: 'filed', ...versioned(says) })}\n`;
    const gateway = await started({ file: echoFile(dir, tool(1)) });
    const hash = await hashOf(gateway, 'filed');
    const history = async () => (await specRequest(targetOf(gateway), 'GET', '/filed/versions')).body;
    await eventually(async () =>
      expect(await history()).toMatchObject({
        versions: [{ content_hash: hash, source: 'loader' }],
        changes: [],
      }),
    );
    echoFile(dir, tool(2));
    await eventually(async () => expect(await said(gateway, 'filed')).toBe(2));
    expect(await said(gateway, 'filed', hash)).toBe(1);
    await eventually(async () => expect((await history())['versions']).toHaveLength(2));
    expect((await specRequest(targetOf(gateway), 'GET', '/filed/diff?from=1.0.0&to=2.0.0')).status).toBe(200);
    await stopped(gateway);
    const again = await started({ file: echoFile(dir, tool(2)) });
    expect(await said(again, 'filed', hash)).toBe(1);
    expect(await said(again, 'filed', '1.0.0')).toBe(1);
  });

  it('on the embedded database, holds as well', async () => {
    const tool = (says: number) => `  - ${JSON.stringify({ name: 'filed', ...versioned(says) })}\n`;
    const file = echoFile(dir, tool(1));
    const loaders = [{ type: 'yaml-file', paths: [file] }];
    const gateway = await started({ file, database: undefined, settings: { loaders } });
    const hash = await hashOf(gateway, 'filed');
    echoFile(dir, tool(2));
    await eventually(async () => expect(await said(gateway, 'filed')).toBe(2));
    expect(await said(gateway, 'filed', hash)).toBe(1);
  });

  it('is refused where there is no such version, no such tool any more, or none that runs', async () => {
    const gateway = await started();
    const { body: first } = await putSpec(targetOf(gateway), 'greet', versioned(1));
    await putSpec(targetOf(gateway), 'greet', versioned(2));
    const gone = { status: 404, body: { error: { type: 'NOT_FOUND', reason: 'VERSION_GONE' } } };
    for (const pin of ['f'.repeat(64), '9.9.9', "'; DROP TABLE tool_versions; --", `${first.content_hash}0`])
      expect(await call(gateway, 'greet', pin)).toMatchObject(gone);
    await postgres.sql(`UPDATE tool_versions SET document = '{"name":"greet"}' WHERE version = '1.0.0'`);
    expect(await call(gateway, 'greet', '1.0.0')).toMatchObject(gone);
    await specRequest(targetOf(gateway), 'DELETE', '/greet');
    expect(await call(gateway, 'greet', '2.0.0')).toMatchObject({
      status: 404,
      body: { error: { reason: 'TOOL_NOT_FOUND' } },
    });
  });

  it('runs beside others of the version in force', async () => {
    const gateway = await started();
    await putSpec(targetOf(gateway), 'greet', versioned(1));
    await putSpec(targetOf(gateway), 'greet', versioned(2));
    const calls = Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? 1 : 2));
    const answers = await Promise.all(calls.map((value) => said(gateway, 'greet', `${value}.0.0`)));
    expect(answers).toEqual(calls);
  });

  it('that is accepted for later runs its version then', async () => {
    const gateway = await started();
    await putSpec(targetOf(gateway), 'greet', versioned(1));
    await putSpec(targetOf(gateway), 'greet', versioned(2));
    const body = { context: { tool_version: '1.0.0' } };
    const id = await acceptedId(targetOf(gateway), 'greet', {}, body);
    expect((await callWhen(targetOf(gateway), id)).result?.data).toBe(1);
  });
});

describe('the policy in force', () => {
  it('the kill switch overrides pins', async () => {
    const gateway = await started();
    await putSpec(targetOf(gateway), 'greet', versioned(1));
    await putSpec(targetOf(gateway), 'greet', versioned(2));
    expect(await said(gateway, 'greet', '1.0.0')).toBe(1);
    await request(targetOf(gateway), 'POST', '/v1/admin/tools/greet/disable');
    expect(await call(gateway, 'greet', '1.0.0')).toMatchObject({
      status: 503,
      body: { error: { reason: 'TOOL_DISABLED' } },
    });
  });

  it('a pin to an older version does not bring back what that asked of its callers', async () => {
    const gateway = await started();
    await putSpec(targetOf(gateway), 'greet', versioned(1));
    await putSpec(
      targetOf(gateway),
      'greet',
      edition(2, { metadata: { version: '2.0.0', permissions: ['greet:use'], modes: ['text'] } }),
    );
    expect(await said(gateway, 'greet', '1.0.0', 'admin')).toBe(1);
    expect(await call(gateway, 'greet', '1.0.0', 'agent')).toMatchObject({
      status: 403,
      body: { error: { reason: 'PERMISSION_MISSING' } },
    });
    await putSpec(
      targetOf(gateway),
      'greet',
      edition(3, { metadata: { version: '3.0.0', is_dangerous: true } }),
    );
    expect((await call(gateway, 'greet', '1.0.0')).status).toBe(202);
    await putSpec(targetOf(gateway), 'greet', versioned(4));
    expect((await call(gateway, 'greet', '3.0.0')).status).toBe(202);
    expect((await call(gateway, 'greet', '2.0.0', 'agent')).status).toBe(403);
    expect(await said(gateway, 'greet', '1.0.0')).toBe(1);
  });

  it('the audit record says which version ran', async () => {
    const gateway = await started();
    await putSpec(targetOf(gateway), 'greet', versioned(1));
    await putSpec(targetOf(gateway), 'greet', versioned(2));
    await call(gateway, 'greet', '1.0.0');
    const { body } = await request<object>(targetOf(gateway), 'GET', '/v1/audit');
    expect(JSON.stringify(body)).toContain('"tool_version":"1.0.0"');
  });
});
