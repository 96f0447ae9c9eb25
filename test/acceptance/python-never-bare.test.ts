// Python tools never run without a sandbox because something failed: not a start, not a disk, not a module that exits.
import { chmodSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../../src/contract/json.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import type { SpawnRequest } from '../../src/ports/egress/process-spawner.ts';
import { confiningSpawner } from '../helpers/confining-spawner.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { callOf, NO_SANDBOX, PythonBench } from '../helpers/python-ports.ts';
import { callTool, request } from '../helpers/rest-client.ts';
import { BUBBLEWRAP, RUNGS } from '../helpers/rungs.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const isRoot = process.getuid?.() === 0;
/** The most lenient that is allowed here. */
const LENIENT = isRoot ? 'required' : 'preferred';
/** Bubblewrap is not there, or makes no namespace: a root that is one in name alone could give the database no user. */
const NO_NAMESPACES = isRoot
  ? [join(ROOT, 'scripts/without-bubblewrap.sh'), 'env', '-u', 'UTE_TEST_RUNG']
  : BUBBLEWRAP.flatMap(() => [
      'bwrap',
      '--die-with-parent',
      '--dev-bind',
      '/',
      '/',
      '--unshare-user',
      '--disable-userns',
      '--',
    ]);
const WITHOUT_SANDBOX = { shell: { backends: ['bwrap-full', 'bwrap-container'] } };

let dir: string;
beforeEach(() => {
  dir = tempDir();
  chmodSync(dir, 0o755);
});
afterEach(() => removeDir(dir));

describe.each(RUNGS)('%s', (_rung, settings) => {
  const spawner = confiningSpawner({ settings });
  afterAll(() => spawner.closeAll());

  /** Notes which starts asked for no sandbox; `fail` is what happens to those that did ask. */
  function watched(fail?: ToolFailure) {
    const unconfined: SpawnRequest[] = [];
    return {
      unconfined,
      sandbox: spawner.sandbox,
      async spawn(asked: SpawnRequest) {
        if (asked.confinement === undefined) unconfined.push(asked);
        else if (fail !== undefined) throw fail;
        return spawner.spawn(asked);
      },
    };
  }

  it('a module that ends its process when it is imported is never imported outside the sandbox', async () => {
    const marker = join(dir, 'outside');
    const lines = ['import os', 'try:', `    open(${JSON.stringify(marker)}, "w").close()`];
    const text = [...lines, 'except OSError:', '    pass', 'os._exit(3)', ''].join('\n');
    writeFileSync(join(dir, 'leaves.py'), text, { mode: 0o644 });
    chmodSync(dir, 0o777);
    const through = watched();
    const bench = new PythonBench(through, { workers: 1, sandbox: LENIENT, modulePaths: [dir] });
    await expect(bench.prepare('leaves', 'f', { baseDir: dir })).rejects.toThrow(/./);
    expect(existsSync(marker)).toBe(false);
    expect(through.unconfined).toEqual([]);
    await bench.executor.close?.();
  });

  it.each(['SANDBOX_FAILED', 'SPAWN_FAILED'])(
    'a start that fails with %s, as on a full disk, is a refusal and no start without the sandbox',
    async (reason) => {
      const full = watched(new ToolFailure('UNAVAILABLE', 'ENOSPC: no space left on device', { reason }));
      const bench = new PythonBench(full, { workers: 1, sandbox: LENIENT });
      await expect(bench.prepare('good', 'echo')).rejects.toThrow(/no space left/);
      expect(full.unconfined).toEqual([]);
      await bench.executor.close?.();
    },
  );

  it('a worker that can no longer be started later is not replaced by one without the sandbox', async () => {
    let isFull = false;
    const through = watched();
    const sometimes = {
      sandbox: spawner.sandbox,
      async spawn(asked: SpawnRequest) {
        if (isFull) throw new ToolFailure('UNAVAILABLE', 'ENOSPC', { reason: 'SANDBOX_FAILED' });
        return through.spawn(asked);
      },
    };
    const bench = new PythonBench(sometimes, { workers: 1, sandbox: LENIENT }, undefined, { pure: true });
    const exit = await bench.callable('bad.exit_now');
    const echo = await bench.callable('good.echo');
    isFull = true;
    await expect(exit()).rejects.toMatchObject({ reason: 'WORKER_DIED' });
    await expect(echo({ value: 1 })).rejects.toMatchObject({ reason: 'WORKER_START_FAILED' });
    isFull = false;
    expect(through.unconfined).toEqual([]);
    await bench.executor.close?.();
  });
});

describe('without any sandbox', () => {
  const without = confiningSpawner({ available: false });

  it('a Python tool is loaded, and every call is refused with what mends it', async () => {
    const bench = new PythonBench(without, { sandbox: 'required' });
    const tool = await bench.prepare('good', 'echo', {});
    await expect(tool.execute(callOf({ value: 1 }), () => undefined)).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'SANDBOX_UNAVAILABLE',
      message: expect.stringMatching(/Install bubblewrap .*executors\.python\.sandbox: "off"/),
    });
    await bench.executor.close?.();
  });

  it('that is found later, the same tool runs in it', async () => {
    const found = confiningSpawner();
    let isThere = false;
    const sandbox = { describe: () => (isThere ? (found.sandbox ?? NO_SANDBOX) : NO_SANDBOX).describe() };
    const bench = new PythonBench({ spawn: (asked) => found.spawn(asked), sandbox }, { sandbox: 'required' });
    const tool = await bench.prepare('good', 'echo', {});
    const call = callOf({ value: 1 });
    await expect(tool.execute(call, () => undefined)).rejects.toMatchObject({
      reason: 'SANDBOX_UNAVAILABLE',
    });
    isThere = true;
    expect((await tool.execute(call, () => undefined)).data).toBe(1);
    expect(call.progress.notes).toMatchObject({ sandbox: expect.stringMatching(/^bwrap|landlock/) });
    await bench.executor.close?.();
    await found.closeAll();
  });
});

describe('a gateway on a machine that has no sandbox', () => {
  let gateway: GatewayProcess | undefined;
  afterEach(() => gateway?.end());

  /** The demo as it is delivered, its settings changed as given. */
  function start(python: Readonly<Record<string, unknown>>): GatewayProcess {
    cpSync(join(ROOT, 'tools'), join(dir, 'tools'), { recursive: true });
    cpSync(join(ROOT, 'config'), join(dir, 'config'), { recursive: true });
    cpSync(join(ROOT, 'packs'), join(dir, 'packs'), { recursive: true });
    const demo = parse(readFileSync(join(ROOT, 'config/gateway.yaml'), 'utf8')) as Record<string, object>;
    const executors = { ...WITHOUT_SANDBOX, python: { module_paths: ['../tools/python'], ...python } };
    const env = configured(join(dir, 'config'), { ...demo, auth: { mode: 'none' }, executors });
    gateway = new GatewayProcess(dir, env, NO_NAMESPACES);
    return gateway;
  }

  const readyz = async (url: string) =>
    (
      await request<{ sandbox: object; executors: object; parts: JsonObject }>(
        { url, key: '' },
        'GET',
        '/readyz',
      )
    ).body;

  it('starts the demo, and its Python tools answer with the one line that mends it', async () => {
    const { rest: url } = await start({}).ready();
    const sum = await callTool({ url, key: '' }, 'calculate_sum', { a: 1, b: 2 });
    expect(sum.body.error).toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('apt-get install bubblewrap'),
    });
    expect((await callTool({ url, key: '' }, 'echo', { text: 'there' })).body.ok).toBe(true);
    expect(await readyz(url)).toMatchObject({
      sandbox: { backend: 'none' },
      executors: { python: { sandbox: 'required', runs_without_sandbox: false } },
    });
    expect(gateway?.stderr).toMatch(/no sandbox here, so shell and Python tools refuse their calls/);
  });

  /** What a lenient gateway tells of itself: why it does not start, or what it runs without. */
  async function lenient(): Promise<Readonly<Record<string, unknown>>> {
    const started = start({ sandbox: 'preferred' });
    if (isRoot) return { exit: (await started.exited).code, said: started.stderr };
    const { rest: url } = await started.ready();
    const sum = await callTool({ url, key: '' }, 'calculate_sum', { a: 1, b: 2 });
    const path = '/v1/audit?tool=calculate_sum';
    const { body } = await request<{ records: JsonObject[] }>({ url, key: '' }, 'GET', path);
    const audited = body.records.filter(({ kind }) => kind === 'outcome').map(({ notes }) => notes);
    const { executors, parts } = await readyz(url);
    return { sum: sum.body.data, audited, ...executors, walls: parts['sandbox'], said: started.stdout };
  }

  const REFUSED = {
    exit: 1,
    said: expect.stringMatching(/executors\.python\.sandbox: "preferred" is refused .* root/) as unknown,
  };
  const TOLD = {
    sum: 3,
    audited: [{ sandbox: 'none' }],
    python: { sandbox: 'preferred', runs_without_sandbox: true },
    walls: {
      kind: 'none',
      state: 'degraded',
      effect: expect.stringMatching(/^shell tools .* refuse .*other Python tools run without/) as unknown,
    },
    said: expect.stringContaining('Python tools run without a sandbox') as unknown,
  };

  it('"preferred": as root it does not start; as another user it says everywhere that nothing confines its tools', async () => {
    expect(await lenient()).toEqual(isRoot ? REFUSED : TOLD);
  });
});
