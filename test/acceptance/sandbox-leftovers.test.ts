// What programs leave in the sandbox: processes, files, and what is planted for the gateway or for the next.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUBBLEWRAP, RUNGS } from '../helpers/rungs.ts';
import { keptAs, MIB, SandboxBench, textOf } from '../helpers/sandbox.ts';
import { newMark, sleepers } from '../helpers/sandboxed-python.ts';
import { removeDir } from '../helpers/temp-tools.ts';
import { eventually } from '../helpers/eventually.ts';

/** On the landlock rung each takes a Python to start. */
const RUNS_AS_PID_1 = { bubblewrap: 1_000, landlock: 200 };
const FIXTURE = resolve(import.meta.dirname, '../fixtures/sandbox/many-runs.ts');
const IS_ROOT = process.getuid?.() === 0;

/** All that a program can write to. */
const FOLDERS = {
  bubblewrap: { script: 'ls -A . /tmp /dev/shm', out: '.:\n\n/dev/shm:\n\n/tmp:\n' },
  landlock: { script: 'ls -A .', out: '' },
};

describe.each(RUNGS)('what is left behind, on the rung %s', (rung, settings) => {
  let bench: SandboxBench;
  beforeAll(() => void (bench = new SandboxBench(settings)));
  afterAll(() => bench.close());

  it('daemons, twice forked and in sessions of their own, are dead when the run ends', async () => {
    const mark = newMark();
    const { ended } = await bench.shell(
      `for i in 1 2 3; do (setsid sh -c 'sleep ${mark} & setsid sleep ${mark} &' &); done; sleep 0.1`,
    );
    expect({ ended, alive: sleepers(mark) }).toEqual({ ended: 'exited', alive: [] });
  });

  it('an ephemeral workspace is empty for the next, a kept one is as it was left', async () => {
    const kept = keptAs('notes');
    await bench.shell('echo 1 > a; mkdir b');
    await bench.shell('echo 1 > a; mkdir b', { workspace: kept });
    expect(textOf(await bench.shell(FOLDERS[rung].script)).out).toBe(FOLDERS[rung].out);
    expect(textOf(await bench.shell('ls -A', { workspace: kept })).out).toBe('a\nb\n');
    expect(textOf(await bench.shell('ls -A', { workspace: keptAs('other') })).out).toBe('');
  });

  it("the gateway's data folder stays its own", async () => {
    const own = new SandboxBench(settings, 'data/workspaces');
    const data = join(own.dir, 'data');
    mkdirSync(data, { mode: 0o700 });
    try {
      const workspace = keptAs('private');
      await own.shell('echo here > x', { workspace });
      expect(textOf(await own.shell('cat x', { workspace })).out).toBe('here\n');
      const { mode, gid } = statSync(data);
      expect((mode & 0o777).toString(8)).toBe('700');
      expect(gid).toBe(process.getgid?.());
    } finally {
      await own.close();
    }
  });

  it('runs in one kept workspace never overlap', async () => {
    const workspace = keptAs('turns');
    const script = 'mkdir lock || echo overlap; sleep 0.05; rmdir lock';
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => bench.shell(script, { workspace })));
    expect(outcomes.map((outcome) => textOf(outcome))).toEqual(outcomes.map(() => ({ out: '', err: '' })));
  });

  it('the temporary folder of the gateway is empty', () => {
    expect(readdirSync(join(bench.dir, 'workspaces/temporary'))).toEqual([]);
  });
});

describe.each(RUNGS)('what is left behind on the rung %s, where process 1 reaps nobody', (rung) => {
  it('no run leaves a zombie', () => {
    const asPidOne = [...(IS_ROOT ? [] : ['--map-current-user']), '-p', '-f', '--mount-proc'];
    const argv = [...asPidOne, process.execPath, FIXTURE, 'repeat', String(RUNS_AS_PID_1[rung])];
    const { stdout, stderr } = spawnSync('unshare', argv, {
      encoding: 'utf8',
      timeout: 280_000,
      env: { ...process.env, UTE_TEST_RUNG: rung },
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({ pid: 1, zombies: 0 });
  }, 300_000);
});

describe.each(RUNGS)('what a gateway that is killed leaves behind, on the rung %s', (rung, settings) => {
  let bench: SandboxBench;
  beforeAll(() => void (bench = new SandboxBench(settings)));
  afterAll(() => bench.close());

  it('no program, those in the background neither', async () => {
    const mark = newMark();
    const gateway = spawn(process.execPath, [FIXTURE, 'hold', '3', mark], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // What it cannot clean up goes with this test's own folder.
      env: { ...process.env, TMPDIR: bench.dir, UTE_TEST_RUNG: rung },
    });
    let ups = 0;
    gateway.stdout.on('data', (chunk) => (ups += String(chunk).split('up').length - 1));
    await eventually(() => ups >= 3 && sleepers(mark).length >= 12, 'all are up');
    gateway.kill('SIGKILL');
    await expect.poll(() => sleepers(mark)).toEqual([]);
  });
});

let secrets: string;
/** A file below a link: in memory the link is replaced, on the disk the file is refused. */
const LINKED_FOLDER = { bubblewrap: 'x', landlock: 'UNSAFE_FILE' };

beforeAll(() => {
  secrets = mkdtempSync(join(tmpdir(), 'ute-secrets-'));
  writeFileSync(join(secrets, 'canary'), 'CANARY-4711', { mode: 0o644 });
  chmodSync(secrets, 0o755);
});
afterAll(() => removeDir(secrets));

describe.each(RUNGS)('what is planted in a workspace, on the rung %s', (rung, settings) => {
  let bench: SandboxBench;
  beforeAll(() => void (bench = new SandboxBench(settings)));
  afterAll(() => bench.close());

  const kept = (key: string) => ({ workspace: keptAs(key) });

  it.each([
    ['a symlink to a file of the host', 'ln -s /proc/self/environ out'],
    ['a symlink to a file beside it', 'echo x > real; ln -s real out'],
    ['a hard link', 'echo x > real; ln real out'],
    ['a folder', 'mkdir out'],
    ['a named pipe', 'mkfifo out'],
  ])('%s is not read out as a file', async (_name, script) => {
    for (const extras of [kept(`plant-${_name}`), {}]) {
      const run = bench.shell(script, { ...extras, collect: ['out'] });
      await expect(run).rejects.toMatchObject({ type: 'PERMANENT', reason: 'UNSAFE_FILE' });
    }
  });

  it('a symlink in the place of a folder does not lead files in or out of it', async () => {
    const extras = kept('folder-link');
    await bench.shell(`ln -s ${secrets} sub`, extras);
    await expect(bench.shell('true', { ...extras, collect: ['sub/canary'] })).rejects.toMatchObject({
      reason: 'UNSAFE_FILE',
    });
    const files = [{ path: 'sub/planted', content: Buffer.from('x') }];
    const outcome = await bench.shell('test -L sub || cat sub/planted', { ...extras, files }).then(
      (ended) => textOf(ended).out,
      ({ reason }: { readonly reason?: string }) => reason,
    );
    expect(outcome).toBe(LINKED_FOLDER[rung]);
    expect(readdirSync(secrets)).not.toContain('planted');
  });

  it('a file written in replaces a link in its place, and leaves what it led to alone', async () => {
    const extras = kept('file-link');
    await bench.shell(`ln -s ${join(secrets, 'canary')} in`, extras);
    const files = [{ path: 'in', content: Buffer.from('new') }];
    expect(textOf(await bench.shell('cat in; test -L in || echo plain', { ...extras, files })).out).toBe(
      'newplain\n',
    );
    expect(readFileSync(join(secrets, 'canary'), 'utf8')).toBe('CANARY-4711');
  });

  it('a link through the old root does not lead the mounts of the next run to the host', async () => {
    const extras = kept('oldroot');
    const script = `ln -sfn /oldroot${secrets} link; ln -sfn /newroot/../oldroot${secrets} tmp; ln -sfn ../../.. up`;
    await bench.shell(script, extras);
    const files = [{ path: 'fresh/file', content: Buffer.from('x') }];
    expect((await bench.shell('cat fresh/file', { ...extras, files })).exitCode).toBe(0);
    expect(readdirSync(secrets).toSorted()).toEqual(['canary']);
  });

  it.each(['../out', '/etc/out', 'a/../../out', '', 'a//b', './a', 'nul\0'])(
    'a file to be written to %j is refused',
    async (path) => {
      const run = bench.shell('true', { files: [{ path, content: Buffer.from('x') }] });
      await expect(run).rejects.toMatchObject({ type: 'VALIDATION', reason: 'UNSAFE_ARGUMENT' });
    },
  );

  it('a file larger than the result may be is refused, however much of it is holes', async () => {
    const run = bench.shell('truncate -s 8M out', { collect: ['out'] });
    await expect(run).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE', reason: 'FILES_TOO_LARGE' });
  });
});

describe.each(BUBBLEWRAP)('what is mounted, on the rung %s alone', (_rung, settings) => {
  let bench: SandboxBench;
  beforeAll(() => void (bench = new SandboxBench(settings)));
  afterAll(() => bench.close());

  it('a host folder shown below a writable one is refused', async () => {
    const confinement = {
      readable: [join(secrets, 'sub')],
      writable: [secrets],
      network: 'none',
      memoryBytes: 64 * MIB,
      maxProcesses: 8,
    } as const;
    const spawned = bench.spawner.spawn({
      argv: ['/bin/true'],
      cwd: '/',
      env: {},
      channel: false,
      confinement,
    });
    await expect(spawned).rejects.toMatchObject({ reason: 'SANDBOX_FAILED' });
  });
});
