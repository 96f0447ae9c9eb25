// Workers on the rung without namespaces: the gateway watches what they write, as root and as an ordinary user.
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SANDBOX_DEFAULTS } from '../../src/lib/sandbox-settings.ts';
import { confiningSpawner } from '../helpers/confining-spawner.ts';
import { callOf, PythonBench, targetOf } from '../helpers/python-ports.ts';
import { LIMITS, SandboxBench } from '../helpers/sandbox.ts';
import { eventually } from '../helpers/eventually.ts';

const spawner = confiningSpawner({ settings: { backends: ['landlock'] } });
const USER = process.getuid?.() === 0 ? SANDBOX_DEFAULTS.uid : process.getuid?.();

const bench = new PythonBench(spawner, { workers: 1, sandbox: 'required' });
afterAll(async () => {
  await bench.executor.close?.();
  await spawner.closeAll();
});

// The kernel gives what is in /proc of a process that hides itself to root.
it('a gateway of the same user may look into a worker and into the processes of its calls', async () => {
  const worker = await bench.call('hostile.parent');
  expect(statSync(`/proc/${String(worker)}/fd`).uid).toBe(USER);
  const pure = await bench.callable('good.pid', { options: { pure: true } });
  expect(statSync(`/proc/${String(await pure())}/fd`).uid).toBe(USER);
});

it('a worker that writes little lives on however often it is looked at', async () => {
  const before = await bench.call('hostile.parent');
  // Longer than from one look at the disk to the next.
  await bench.call('good.sleep', { seconds: 0.5 });
  expect(await bench.call('hostile.parent')).toBe(before);
  expect(bench.metrics.value('ute_executor_worker_restarts_total{python,died}')).toBe(0);
});

it('what commands of neighbours start takes no process from a call', async () => {
  const pid = await bench.callable('good.pid');
  await pid();
  const { sandbox } = spawner;
  const stop = new AbortController();
  const bomb =
    'import os, time\ntry:\n while os.fork(): pass\nexcept OSError: pass\ntime.sleep(60)  # of a neighbour';
  const running = sandbox?.run({
    argv: ['/usr/bin/python3', '-I', '-S', '-c', bomb],
    workspace: { kind: 'ephemeral' },
    signal: stop.signal,
    limits: { ...LIMITS, maxProcesses: 200 },
  });
  // More than a worker may have, with all that runs in it.
  await eventually(() => processesWith('# of a neighbour') > 150, 'the neighbours started');
  expect(await pid()).toBeGreaterThan(0);
  stop.abort();
  await running?.catch(() => undefined);
});

// As the data folder of a gateway that is root is.
it('a tool finds a temporary folder where its user cannot pass the folders above it', async () => {
  const shut = new SandboxBench({ backends: ['landlock'] }, 'shut/workspaces');
  mkdirSync(join(shut.dir, 'shut'), { mode: 0o700 });
  const own = new PythonBench(Object.assign(shut.spawner, { sandbox: shut.sandbox }), {
    sandbox: 'required',
  });
  await own.call('hostile.write_temporary', { name: 'x', text: 'y' });
  expect(await own.call('hostile.temporary_files')).toEqual([]);
  const inputSchema = { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] };
  const code = await own.executor.prepare(targetOf({ code: true }, { inputSchema, isDangerous: true }));
  const text = 'import tempfile\nwith tempfile.TemporaryFile() as file: file.write(b"x")';
  const { data } = await code.execute(callOf({ code: text }), () => undefined);
  expect(data).toMatchObject({ error: null });
  await own.executor.close?.();
  await shut.close();
});

function processesWith(text: string): number {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  }).length;
}
