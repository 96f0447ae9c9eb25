// Changing the tools of a running gateway: noticed, taken whole or not at all, and never felt by a call.
import { appendFileSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { grpcDoor } from '../helpers/doors.ts';
import { callTool, metricValue, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { ECHO_HANDLER, javascriptTool, removeDir, tempDir, writeTools } from '../helpers/temp-tools.ts';

interface Status {
  readonly ok: boolean;
  readonly registry_version: string;
  readonly tools: number;
  readonly problems: readonly {
    readonly file: string;
    readonly line?: number;
    readonly column?: number;
    readonly message: string;
  }[];
}

/** What the gateway promises between a change on disk and its effect. */
const PROMISED_MS = 2_000;
const SOONER_OR_LATER = { timeout: 30_000, interval: 20 };
const RELOAD_METRIC = 'ute_config_last_reload_successful';

let dir: string;
let gateway: RunningGateway | undefined;

beforeEach(() => {
  dir = tempDir();
  writeFileSync(join(dir, 'echo.js'), ECHO_HANDLER);
});

afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
  removeDir(dir);
});

async function started(tools: string): Promise<{ gateway: RunningGateway; admin: RestTarget }> {
  gateway = await startGateway({ tools: [tools] });
  return { gateway, admin: targetOf(gateway) };
}

const statusOf = async (admin: RestTarget) => (await request<Status>(admin, 'GET', '/v1/admin/reload')).body;

/** Calls `echo` from `callers` loops until told to stop, and counts the statuses that came back. */
function steadyLoad(target: RestTarget, callers = 8, mostCalls = 40_000) {
  const statuses = new Map<number, number>();
  let calls = 0;
  const stopping = new AbortController();
  const loop = async () => {
    while (!stopping.signal.aborted && calls < mostCalls) {
      calls += 1;
      const { status } = await callTool(target, 'echo', { text: 'steady' });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const loops = Promise.all(Array.from({ length: callers }, loop));
  const served = () => statuses.get(200) ?? 0;
  async function stop() {
    stopping.abort();
    await loops;
    return { served: served(), failed: [...statuses].filter(([status]) => status !== 200) };
  }
  return { served, stop };
}

describe('a tools file that changes under load', () => {
  it('makes a new tool callable within 2 s, and no call of the load fails', async () => {
    const tools = writeTools(dir, javascriptTool('echo', './echo.js'));
    const { admin } = await started(tools);
    const load = steadyLoad(admin);
    await expect.poll(() => load.served(), SOONER_OR_LATER).toBeGreaterThan(50);
    const noticedMs: number[] = [];
    for (const name of ['second', 'third', 'fourth']) {
      appendFileSync(tools, javascriptTool(name, './echo.js'));
      const writtenAt = performance.now();
      await expect
        .poll(async () => (await callTool(admin, name, { n: 1 })).body.data, SOONER_OR_LATER)
        .toEqual({ n: 1 });
      noticedMs.push(performance.now() - writtenAt);
    }
    // A busy machine may hold any one of them up.
    expect(Math.min(...noticedMs)).toBeLessThan(PROMISED_MS);
    await expect.poll(() => load.served(), SOONER_OR_LATER).toBeGreaterThan(100);
    const { failed } = await load.stop();
    expect(failed).toEqual([]);
  });

  it('keeps the last good set when it breaks, says where, and heals when it is repaired', async () => {
    const tools = writeTools(dir, javascriptTool('echo', './echo.js'));
    const { gateway: running, admin } = await started(tools);
    const { metricsUrl } = running.service;
    expect(await metricValue(metricsUrl, RELOAD_METRIC)).toBe(1);
    const { registry_version: version } = await statusOf(admin);
    const load = steadyLoad(admin);

    writeTools(dir, javascriptTool('echo', './echo.js'), javascriptTool('broken', './no-such-handler.js'));
    await expect.poll(async () => (await statusOf(admin)).ok, SOONER_OR_LATER).toBe(false);
    const refused = await statusOf(admin);
    expect(refused).toMatchObject({ registry_version: version, tools: 1 });
    expect(refused.problems).toEqual([
      expect.objectContaining({ file: tools, line: 11, column: expect.any(Number), tool: 'broken' }),
    ]);
    expect(await metricValue(metricsUrl, RELOAD_METRIC)).toBe(0);
    expect(await callTool(admin, 'echo', { n: 2 })).toMatchObject({ status: 200, body: { data: { n: 2 } } });

    writeFileSync(tools, 'tools:\n  - name: echo\n   description: [never closed\n');
    await expect
      .poll(async () => (await statusOf(admin)).problems[0]?.message, SOONER_OR_LATER)
      .not.toBe(refused.problems[0]?.message);
    const unreadable = await statusOf(admin);
    expect(unreadable).toMatchObject({ ok: false, registry_version: version });
    expect(unreadable.problems[0]).toMatchObject({ file: tools, line: 3, column: expect.any(Number) });

    writeTools(dir, javascriptTool('echo', './echo.js'), javascriptTool('healed', './echo.js'));
    await expect.poll(async () => (await callTool(admin, 'healed')).status, SOONER_OR_LATER).toBe(200);
    expect(await statusOf(admin)).toMatchObject({ ok: true, tools: 2, problems: [] });
    expect(await metricValue(metricsUrl, RELOAD_METRIC)).toBe(1);
    expect((await load.stop()).failed).toEqual([]);
  });

  it.each([
    ['is emptied', '', '"tools: []"'],
    ['ends after its first word', 'tools:', '"tools: []"'],
    ['ends inside of a tool', 'tools:\n  - name: echo\n    descr', 'not valid YAML'],
  ])(
    'keeps its tools while it %s, says where, and that none are meant is said by "tools: []"',
    async (_how, text, message) => {
      const tools = writeTools(dir, javascriptTool('echo', './echo.js'));
      const { admin } = await started(tools);
      writeFileSync(tools, text);
      await expect.poll(async () => (await statusOf(admin)).ok, SOONER_OR_LATER).toBe(false);
      const { problems, tools: inForce } = await statusOf(admin);
      expect(inForce).toBe(1);
      const place = { file: tools, line: expect.any(Number), column: expect.any(Number) };
      expect(problems).toMatchObject([{ ...place, message: expect.stringContaining(message) }]);
      expect(await callTool(admin, 'echo', { n: 2 })).toMatchObject({
        status: 200,
        body: { data: { n: 2 } },
      });
      writeFileSync(tools, 'tools: []\n');
      await expect
        .poll(() => statusOf(admin), SOONER_OR_LATER)
        .toMatchObject({ ok: true, tools: 0, problems: [] });
    },
  );

  it('keeps its tools while its folder is empty, as a volume that is not mounted is', async () => {
    const folder = join(dir, 'tools');
    mkdirSync(folder);
    writeFileSync(join(folder, 'echo.js'), ECHO_HANDLER);
    const tools = writeTools(folder, javascriptTool('echo', './echo.js'));
    const { admin } = await started(folder);
    renameSync(tools, join(dir, 'elsewhere.yaml'));
    await expect.poll(async () => (await statusOf(admin)).ok, SOONER_OR_LATER).toBe(false);
    expect((await statusOf(admin)).problems).toMatchObject([
      { file: folder, message: expect.stringContaining('"tools: []"') },
    ]);
    expect((await callTool(admin, 'echo')).status).toBe(200);
  });
});

it('notices a mounted folder whose ..data link is swapped in one step, as Kubernetes does', async () => {
  const mount = join(dir, 'mount');
  for (const [name, tool] of [
    ['first', 'before'],
    ['next', 'after'],
  ] as const) {
    mkdirSync(join(mount, name), { recursive: true });
    writeFileSync(join(mount, name, 'echo.js'), ECHO_HANDLER);
    writeTools(join(mount, name), javascriptTool(tool, join(dir, 'echo.js')));
  }
  symlinkSync('first', join(mount, '..data'));
  symlinkSync('..data/tools.yaml', join(mount, 'tools.yaml'));
  const { admin } = await started(mount);
  expect(await callTool(admin, 'before')).toMatchObject({ status: 200 });
  expect(await callTool(admin, 'after')).toMatchObject({ status: 404 });

  symlinkSync('next', join(mount, '..data_tmp'));
  renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
  await expect.poll(async () => (await callTool(admin, 'after')).status, SOONER_OR_LATER).toBe(200);
  expect(await callTool(admin, 'before')).toMatchObject({ status: 404 });
});

it('lets a call in flight finish on the set it began with, while later calls get the new one', async () => {
  const gate = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  Object.assign(globalThis, { uteReloadTest: { gate: gate.promise, entered: () => entered.resolve() } });
  writeFileSync(
    join(dir, 'old.js'),
    'export async function execute() {\n  globalThis.uteReloadTest.entered();\n  await globalThis.uteReloadTest.gate;\n  return "old";\n}\n',
  );
  writeFileSync(join(dir, 'new.js'), 'export function execute() {\n  return "new";\n}\n');
  writeTools(dir, javascriptTool('version', './old.js'));
  const { admin } = await started(join(dir, 'tools.yaml'));
  const { registry_version: oldVersion } = await statusOf(admin);

  const inFlight = callTool(admin, 'version');
  await entered.promise;
  writeTools(dir, javascriptTool('version', './new.js'));
  const { body: reloaded } = await request<Status>(admin, 'POST', '/v1/admin/reload');
  expect(reloaded.registry_version).not.toBe(oldVersion);
  expect((await callTool(admin, 'version')).body).toMatchObject({
    data: 'new',
    meta: { registry_version: reloaded.registry_version },
  });

  gate.resolve();
  expect((await inFlight).body).toMatchObject({
    ok: true,
    data: 'old',
    meta: { registry_version: oldVersion },
  });
});

describe('the operator', () => {
  it('reloads on demand and is told what came of it', async () => {
    const { gateway: running, admin } = await started(writeTools(dir, javascriptTool('echo', './echo.js')));
    writeTools(dir, javascriptTool('echo', './echo.js'), javascriptTool('more', './echo.js'));
    expect(await request(admin, 'POST', '/v1/admin/reload')).toMatchObject({
      status: 200,
      body: { ok: true, tools: 2, problems: [] },
    });
    expect(await callTool(admin, 'more')).toMatchObject({ status: 200 });
    expect(await request(targetOf(running, 'agent'), 'POST', '/v1/admin/reload')).toMatchObject({
      status: 403,
    });
  });

  it('turns a tool off for both doors and in the listing, and on again', async () => {
    const { gateway: running, admin } = await started(
      writeTools(dir, javascriptTool('echo', './echo.js'), javascriptTool('other', './echo.js')),
    );
    const grpc = grpcDoor(running);
    const byGrpc = () => grpc.call({ tool: 'echo', argumentsJson: '{"n":1}', key: admin.key });
    const listed = async () => {
      const { body } = await request<{ tools: { name: string; disabled: boolean }[] }>(
        admin,
        'GET',
        '/v1/tools',
      );
      return body.tools.map(({ name, disabled }) => [name, disabled]);
    };
    const exported = async () => (await request<unknown>(admin, 'GET', '/v1/tools?format=mcp')).body;

    expect(await byGrpc()).toMatchObject({ ok: true, data: { n: 1 } });
    expect(await request(admin, 'POST', '/v1/admin/tools/echo/disable')).toMatchObject({ status: 200 });
    expect(await callTool(admin, 'echo')).toMatchObject({
      status: 503,
      body: { error: { type: 'UNAVAILABLE', reason: 'TOOL_DISABLED' } },
    });
    expect(await byGrpc()).toMatchObject({
      ok: false,
      type: 'UNAVAILABLE',
      reason: 'TOOL_DISABLED',
      status: 14,
    });
    expect(await callTool(admin, 'other')).toMatchObject({ status: 200 });
    expect(await listed()).toEqual([
      ['echo', true],
      ['other', false],
    ]);
    expect(JSON.stringify(await exported())).not.toContain('"echo"');
    // A reload is no way around the switch.
    await request(admin, 'POST', '/v1/admin/reload');
    expect(await callTool(admin, 'echo')).toMatchObject({ status: 503 });

    expect(await request(admin, 'POST', '/v1/admin/tools/echo/enable')).toMatchObject({ status: 200 });
    expect(await callTool(admin, 'echo', { n: 3 })).toMatchObject({ status: 200, body: { data: { n: 3 } } });
    expect(await byGrpc()).toMatchObject({ ok: true });
    expect(await listed()).toEqual([
      ['echo', false],
      ['other', false],
    ]);
    expect(await request(admin, 'POST', '/v1/admin/tools/nobody/disable')).toMatchObject({ status: 404 });
    grpc.close();
  });
});

describe('gateway.yaml whose loaders change', () => {
  const TOOLS = { echo: 'echo', second: 'second' };
  const isThere = async (admin: RestTarget, tool: string) =>
    (await callTool(admin, tool, { text: 'hello' })).status === 200;

  it('brings and takes tools without a restart, and keeps them where it cannot be used', async () => {
    const first = writeTools(dir, javascriptTool(TOOLS.echo, './echo.js'));
    const second = join(dir, 'second.yaml');
    writeFileSync(second, `tools:\n${javascriptTool(TOOLS.second, './echo.js')}`);
    const { gateway: running, admin } = await started(first);
    const file = join(running.dir, 'gateway.yaml');
    const original = readFileSync(file, 'utf8');
    const entry = `loaders:\n  - { type: yaml-file, paths: [${JSON.stringify(second)}] }\n`;
    const withSecond = original.replace('loaders:\n', entry);
    writeFileSync(file, withSecond);
    await expect.poll(() => isThere(admin, TOOLS.second), SOONER_OR_LATER).toBe(true);
    expect(await isThere(admin, TOOLS.echo)).toBe(true);
    for (const broken of [entry.replace('yaml-file', 'yml-file'), 'loaders: [\n', '']) {
      writeFileSync(file, broken === '' ? '' : original.replace('loaders:\n', broken));
      await request(admin, 'POST', '/v1/admin/reload');
      expect([await isThere(admin, TOOLS.echo), await isThere(admin, TOOLS.second)]).toEqual([true, true]);
    }
    writeFileSync(file, original);
    expect((await request<Status>(admin, 'POST', '/v1/admin/reload')).body).toMatchObject({
      ok: true,
      tools: 1,
    });
    expect([await isThere(admin, TOOLS.echo), await isThere(admin, TOOLS.second)]).toEqual([true, false]);
  });
});
