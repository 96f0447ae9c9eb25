// One tenant's calls against another's: they hold no slot, no worker and no place in a queue that the other one needs.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import type { ToolCall } from '../../src/contract/call/tool-call.ts';
import { shellExecutor } from '../../src/executors/shell/index.ts';
import { shellOptionsSchema } from '../../src/executors/shell/options-schema.ts';
import { shellSettingsSchema } from '../../src/executors/shell/settings.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import {
  callOf as shellCallOf,
  functionOf,
  principalOf,
  recordingLog,
  recordingMetrics,
} from '../helpers/call-kit.ts';
import { confiningSpawner, type ConfiningSpawner } from '../helpers/confining-spawner.ts';
import { callOf, PythonBench, targetOf, type CallExtras } from '../helpers/python-ports.ts';
import { RUNGS } from '../helpers/rungs.ts';
import { SandboxBench } from '../helpers/sandbox.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const of = (tenantId: string, userId?: string): Partial<ToolCall> => ({
  principal: principalOf({ tenantId }),
  context: { ...(userId !== undefined && { userId }) },
});

describe.each(RUNGS)('shell commands on the rung %s', (_rung, rungOnly) => {
  it('behind any number of one tenant’s commands, another tenant’s runs at once', async () => {
    const bench = new SandboxBench(rungOnly);
    const clock = new SystemClock();
    const needs = { sandbox: bench.sandbox, clock, log: recordingLog(), metrics: recordingMetrics() };
    const settings = shellSettingsSchema('/').parse({ max_parallel: 2 });
    const shell = shellExecutor.create({ ...needs, settings });
    const command = async (text: string) =>
      shell.prepare({ function: functionOf({}), options: shellOptionsSchema.parse({ command: text }) });
    const [sleep, quick] = await Promise.all([command('sleep 0.2'), command('true')]);
    const call = (tenant: string) => shellCallOf({ ...of(tenant), deadline: clock.now() + 50_000 });
    let ended = 0;
    const greedy = Array.from({ length: 32 }, () =>
      sleep.execute(call('greedy'), () => undefined).then(() => (ended += 1)),
    );
    await quick.execute(call('modest'), () => undefined);
    expect(ended).toBeLessThan(32 / 2);
    await Promise.all(greedy);
    await bench.close();
  });
});

describe.each(RUNGS)('Python workers on the rung %s', (rung, rungOnly) => {
  let dir: string;
  let spawner: ConfiningSpawner;

  beforeAll(() => {
    dir = tempDir();
    // As root, the sandbox's user is another one.
    chmodSync(dir, 0o755);
    mkdirSync(join(dir, 'modules'));
    const litter = `
import os, tempfile

def litter(entries: int) -> int:
    for number in range(entries):
        os.close(os.open(f"{tempfile.gettempdir()}/left-{number}", os.O_CREAT | os.O_WRONLY))
    return entries
`;
    writeFileSync(join(dir, 'modules/litter.py'), litter);
    spawner = confiningSpawner({ settings: rungOnly });
  });

  afterAll(async () => {
    await spawner.closeAll();
    removeDir(dir);
  });

  it.each([
    ['in processes of their own', false],
    ['in the workers themselves', true],
  ])('calls of one tenant that sleep %s hold no worker that another tenant needs', async (_how, pure) => {
    const bench = new PythonBench(spawner, { sandbox: 'required' }, undefined, pure ? { pure: true } : {});
    const [sleep, echo] = [await bench.callable('good.sleep'), await bench.callable('good.echo')];
    const gone = new AbortController();
    const sleeping = Array.from({ length: 6 }, () =>
      sleep({ seconds: 60 }, { call: of('greedy'), signal: gone.signal }).catch(
        (error: Error) => error.message,
      ),
    );
    expect(await echo({ value: 'served' }, { call: of('modest') })).toBe('served');
    gone.abort(new Error('gone'));
    expect(new Set(await Promise.all(sleeping))).toEqual(new Set(['gone']));
    await bench.executor.close?.();
  });

  it('whatever one tenant’s calls leave behind, no call of another ends with their worker', async () => {
    const bench = new PythonBench(spawner, {
      sandbox: 'required',
      workers: 1,
      modulePaths: [join(dir, 'modules')],
    });
    const litter = await bench.callable('litter.litter');
    const of1 = (tenant: string, entries: number) => litter({ entries }, { call: of(tenant) });
    const answers = await Promise.allSettled(
      Array.from({ length: 30 }, (_, at) => (at % 3 === 0 ? of1('greedy', 1_100) : of1('modest', 1))),
    );
    const failures = answers.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
    expect(failures).toEqual([]);
    expect(bench.metrics.value('ute_executor_worker_restarts_total{python,died}')).toBe(0);
    expect(bench.metrics.value('ute_executor_worker_restarts_total{python,recycled}')).toBeGreaterThan(0);
    await bench.executor.close?.();
  });

  it('snippets of two users never share a sandbox, not one after the other either', async () => {
    const bench = new PythonBench(spawner, { sandbox: 'required', workers: 1 });
    const inputSchema = { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] };
    const tool = await bench.executor.prepare(targetOf({ code: true }, { inputSchema, isDangerous: true }));
    // By its namespace and when that began, as the kernel gives the number of one that has ended again; elsewhere by its pid.
    const own = 'os.readlink("/proc/self/ns/mnt"), open("/proc/1/stat").read().split()[21]';
    const space = rung === 'bubblewrap' ? own : '""';
    const code = `import os\n[${space}, os.getppid()]`;
    const where = async (extra: CallExtras) => {
      const { data } = await tool.execute(callOf({ code }, extra), () => undefined);
      return JSON.stringify((data as JsonObject)['result']);
    };
    const ann = [await where({ call: of('acme', 'ann') }), await where({ call: of('acme', 'ann') })];
    const bob = await where({ call: of('acme', 'bob') });
    const other = await where({ call: of('umbrella', 'ann') });
    expect(ann[1], 'the same user stays in the same sandbox').toBe(ann[0]);
    expect(new Set([...ann, bob, other]).size).toBe(3);
    await bench.executor.close?.();
  });
});
