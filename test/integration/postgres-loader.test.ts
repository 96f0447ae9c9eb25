// Tools kept in the database: changed by REST on one replica, in force on all; judged before they are kept; rolled back.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { startRedis, type RedisServer } from '../helpers/redis.ts';
import { callTool, request, targetOf } from '../helpers/rest-client.ts';
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
let redis: RedisServer;
let gateways: RunningGateway[];

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
});
afterAll(() => Promise.all([postgres?.stop(), redis?.stop()]));

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
  const gateway = await startKeeping({ file: echoFile(dir), database: postgres.url(), ...over });
  gateways.push(gateway);
  return gateway;
}

const said = async (gateway: RunningGateway, tool: string) =>
  (await callTool(targetOf(gateway), tool)).body.data;

describe('two replicas of one database', () => {
  it.each([
    ['with hints over Redis', true, '1h'],
    ['by polling alone', false, '5s'],
  ])('a change on one is callable on both within ten seconds, %s', async (_how, hinted, interval) => {
    const over = { loader: { interval }, ...(hinted && { redis: redis.url }) };
    const [one, two] = [await started(over), await started(over)];
    const put = await putSpec(targetOf(one), 'greet', edition(1));
    expect(put).toMatchObject({
      status: 200,
      etag: '"1"',
      body: { in_force: true, changed: true, revision: 1 },
    });
    expect(await said(one, 'greet')).toBe(1);
    await eventually(async () => expect(await said(two, 'greet')).toBe(1));
    await putSpec(targetOf(two), 'greet', edition(2));
    await eventually(async () => expect(await said(one, 'greet')).toBe(2));
    const registry = await Promise.all(
      [one, two].map((each) => request<{ version: string }>(targetOf(each), 'GET', '/v1/registry')),
    );
    expect(registry[0]?.body.version).toBe(registry[1]?.body.version);
    await specRequest(targetOf(one), 'DELETE', '/greet?note=over');
    expect((await callTool(targetOf(one), 'greet')).status).toBe(404);
    await eventually(async () => expect((await callTool(targetOf(two), 'greet')).status).toBe(404));
  });

  it('two that are put at once and take each other names never break the set: one of them is refused', async () => {
    const [one, two] = [await started(), await started()];
    const withAction = {
      description: 'Has an action',
      tool_type: 'javascript',
      actions: [{ name: 'b', description: 'does b', parameters: [] }],
      implementation_config: { handler: `${dir}/files/echo.mjs`, export: 'execute', trusted: true },
    };
    const loader = { tool_types: ['javascript', 'composite'] };
    const [three, four] = [await started({ loader }), await started({ loader })];
    const answers = await Promise.all([
      putSpec(targetOf(three), 'a', withAction),
      putSpec(targetOf(four), 'a.b', edition(1)),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    for (const each of [one, two])
      expect((await callTool(targetOf(each), 'echo', { a: 1 })).body.ok).toBe(true);
  });
});

describe('a definition', () => {
  it('is judged first: every problem is told, and nothing is kept', async () => {
    const gateway = await started({ loader: { tool_types: ['http', 'composite'] } });
    const bad = {
      description: '',
      tool_type: 'shell',
      timeout_ms: -1,
      input_schema: { type: 'objct' },
      colour: 'red',
    };
    const { status, body } = await putSpec(targetOf(gateway), 'bad', bad);
    expect(status).toBe(400);
    expect(body.reason).toBe('SPEC_INVALID');
    const paths = body.problems?.map(({ path }) => path?.split('.')[0]);
    expect(new Set(paths)).toEqual(
      new Set(['description', 'tool_type', 'timeout_ms', 'input_schema', 'colour', 'implementation_config']),
    );
    expect(body.problems?.every((each) => each.tool === 'bad')).toBe(true);
    expect((await specRequest(targetOf(gateway), 'GET', '')).body['specs']).toEqual([]);
    expect((await specRequest(targetOf(gateway), 'GET', '/bad/versions')).status).toBe(404);
  });

  it('that its executor cannot prepare is refused, as one with an unknown connection is', async () => {
    const gateway = await started({ loader: { tool_types: ['javascript', 'http'], connections: ['*'] } });
    const missing = {
      description: 'x',
      tool_type: 'javascript',
      implementation_config: { handler: './missing.mjs' },
    };
    expect((await putSpec(targetOf(gateway), 'one', missing)).body).toMatchObject({ reason: 'SPEC_INVALID' });
    const unknown = {
      description: 'x',
      tool_type: 'http',
      implementation_config: { method: 'GET', connection: 'nowhere', path: '/' },
    };
    const { body } = await putSpec(targetOf(gateway), 'two', unknown);
    expect(body.problems).toMatchObject([{ tool: 'two', path: 'implementation_config.connection' }]);
  });

  it('is taken in YAML as in JSON, and shown as it was written', async () => {
    const gateway = await started();
    const text =
      '# a comment\nname: greet\ndescription: Says yaml\ntool_type: composite\ninput_schema: { type: object }\nimplementation_config:\n  steps: [{ id: said, tool: echo, arguments: { edition: yaml } }]\n  result: steps.said.edition\n';
    const put = await specRequest(targetOf(gateway), 'PUT', '/greet', {
      text,
      headers: { 'content-type': 'application/yaml' },
    });
    expect(put.status).toBe(200);
    expect(await said(gateway, 'greet')).toBe('yaml');
    const shown = await specRequest(targetOf(gateway), 'GET', '/greet');
    expect(Object.keys(shown.body['document'] as object)).toEqual([
      'name',
      'description',
      'tool_type',
      'input_schema',
      'implementation_config',
    ]);
    expect(shown.etag).toBe('"1"');
  });

  it('is changed only by who has seen it as it is', async () => {
    const gateway = await started();
    const target = targetOf(gateway);
    const first = await putSpec(target, 'greet', edition(1), { 'if-none-match': '*' });
    expect(first.status).toBe(200);
    expect((await putSpec(target, 'greet', edition(9), { 'if-none-match': '*' })).status).toBe(412);
    expect((await putSpec(target, 'greet', edition(2), { 'if-match': '"1"' })).etag).toBe('"2"');
    const late = await putSpec(target, 'greet', edition(3), { 'if-match': '"1"' });
    expect(late).toMatchObject({ status: 412, body: { reason: 'VERSION_CONFLICT' } });
    expect((await specRequest(target, 'DELETE', '/greet', { headers: { 'if-match': '"1"' } })).status).toBe(
      412,
    );
    expect((await putSpec(target, 'greet', edition(3), { 'if-match': 'W/"2"' })).status).toBe(412);
    expect(await said(gateway, 'greet')).toBe(2);
    expect((await putSpec(target, 'greet', edition(2))).body).toMatchObject({ changed: false, revision: 2 });
  });

  it('can be tried: what would change is told, and nothing is kept', async () => {
    const gateway = await started();
    await putSpec(targetOf(gateway), 'greet', edition(1));
    const tried = await specRequest(targetOf(gateway), 'PUT', '/greet?dry_run=true', { body: edition(2) });
    expect(tried).toMatchObject({ status: 200, body: { dry_run: true } });
    expect(tried.body['changes']).toEqual([
      { pointer: '/description', before: 'Says 1', after: 'Says 2' },
      { pointer: '/implementation_config/steps/0/arguments/edition', before: 1, after: 2 },
    ]);
    expect(await said(gateway, 'greet')).toBe(1);
    expect(
      (
        await specRequest(targetOf(gateway), 'PUT', '/greet?dry_run=true', {
          body: { tool_type: 'composite' },
        })
      ).status,
    ).toBe(400);
  });

  it('has a history with who and why, which can be compared and gone back to', async () => {
    const gateway = await started();
    const target = targetOf(gateway);
    const one = await putSpec(target, 'greet', edition(1, { metadata: { version: '1.0.0' } }));
    await putSpec(target, 'greet', edition(2, { metadata: { version: '2.0.0' } }));
    const diff = await specRequest(target, 'GET', '/greet/diff?from=1.0.0&to=2.0.0');
    expect(diff.body['changes']).toContainEqual({
      pointer: '/description',
      before: 'Says 1',
      after: 'Says 2',
    });
    const back = await specRequest(target, 'POST', '/greet/rollback', {
      body: { content_hash: one.body.content_hash, note: 'two was worse' },
    });
    expect(back).toMatchObject({ status: 200, body: { action: 'rollback', revision: 3, in_force: true } });
    expect(await said(gateway, 'greet')).toBe(1);
    const { body } = await specRequest(target, 'GET', '/greet/versions');
    const by = gateway.keys.admin.id;
    expect(body['changes']).toMatchObject([
      { revision: 3, action: 'rollback', by, note: 'two was worse', content_hash: one.body.content_hash },
      { revision: 2, action: 'put', by, note: 'test' },
      { revision: 1, action: 'put', by, note: 'test' },
    ]);
    expect(body['versions']).toMatchObject([
      { version: '2.0.0', source: 'database', created_by: by },
      { version: '1.0.0' },
    ]);
    const gone = await specRequest(target, 'POST', '/greet/rollback', {
      body: { content_hash: 'f'.repeat(64) },
    });
    expect(gone).toMatchObject({ status: 404, body: { reason: 'VERSION_GONE' } });
  });

  it('that was deleted can be put again', async () => {
    const gateway = await started();
    const target = targetOf(gateway);
    await putSpec(target, 'greet', edition(1));
    expect((await specRequest(target, 'DELETE', '/greet?note=why')).body).toMatchObject({
      revision: 2,
      in_force: true,
    });
    expect((await specRequest(target, 'DELETE', '/greet')).body).toMatchObject({
      revision: 2,
      changed: false,
    });
    expect((await specRequest(target, 'GET', '/greet')).body).toMatchObject({ enabled: false, note: 'why' });
    expect((await putSpec(target, 'greet', edition(1))).body).toMatchObject({ revision: 3, in_force: true });
    expect((await specRequest(target, 'DELETE', '/nothing')).status).toBe(404);
  });
});

describe('the database', () => {
  it('is the embedded one where none is named: tools are there after a restart', async () => {
    const data = `${dir}/data`;
    const over = { database: undefined, settings: { data_dir: data } };
    const first = await started(over);
    await putSpec(targetOf(first), 'greet', edition('kept'));
    expect(await said(first, 'greet')).toBe('kept');
    gateways = [];
    await first.stop();
    const second = await started(over);
    expect(await said(second, 'greet')).toBe('kept');
  });

  it('with a row that somebody broke by hand keeps the last good set, and the status says which', async () => {
    const gateway = await started({ loader: { interval: '500ms' } });
    await putSpec(targetOf(gateway), 'greet', edition(1));
    await putSpec(targetOf(gateway), 'other', edition(1));
    const broken = 'b'.repeat(64);
    await postgres.sql(`INSERT INTO tool_versions (name, content_hash, version, document, source, base_dir, created_by, note)
      VALUES ('greet', '${broken}', '1.0.0', '{"name":"greet","tool_type":"composite"}', 'database', '', '', '')`);
    await postgres.sql(
      `UPDATE tool_heads SET content_hash = '${broken}', revision = revision + 1 WHERE name = 'greet'`,
    );
    const status = async () =>
      (await request<{ ok: boolean; problems: unknown[] }>(targetOf(gateway), 'GET', '/v1/admin/reload'))
        .body;
    await eventually(async () =>
      expect(await status()).toMatchObject({
        ok: false,
        problems: [{ file: 'database:greet', tool: 'greet' }, {}],
      }),
    );
    expect(await said(gateway, 'greet')).toBe(1);
    expect((await specRequest(targetOf(gateway), 'DELETE', '/greet?note=broken')).body.in_force).toBe(true);
    expect(await said(gateway, 'other')).toBe(1);
  });
});

it('without the loader, definitions are not changed', async () => {
  const gateway = await started({ settings: { loaders: [{ type: 'yaml-file', paths: [echoFile(dir)] }] } });
  const put = await putSpec(targetOf(gateway), 'greet', edition(1));
  expect(put).toMatchObject({ status: 409, body: { reason: 'SPECS_NOT_CONFIGURED' } });
});
