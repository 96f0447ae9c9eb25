// The store of packages: what code of a package leaves in its folder does not lead the gateway elsewhere, and whatever becomes of
// an installation, nothing of it is left.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  readdirSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { McpPackage } from '../../ports/egress/mcp-servers.ts';
import type { ChildProcess, ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import { quietLog } from '../../../test/helpers/quiet-log.ts';
import { realClock } from '../../../test/helpers/python-ports.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { Clock } from '../../ports/clock.ts';
import { startOfProcess } from '../process/living-process.ts';
import { findInterpreter } from './interpreters.ts';
import { NpmPackages } from './npm-packages.ts';
import { PackageStore } from './package-store.ts';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'ute-store-'))));
afterEach(() => rmSync(dir, { recursive: true }));

const ASKED: McpPackage = {
  packages: [{ registry: 'npm', name: 'evil', extras: [], version: '1.2.3' }],
  scripts: true,
};

/** Installs nothing by npm: `leave` is what the package's own code has made of the folder. */
function storeAfter(leave: (folder: string) => void): PackageStore {
  const spawner: ProcessSpawner = {
    async spawn({ cwd }) {
      const modules = join(cwd, 'node_modules');
      mkdirSync(join(modules, '.bin'), { recursive: true });
      mkdirSync(join(modules, 'evil'));
      writeFileSync(join(modules, 'evil/package.json'), JSON.stringify({ bin: { evil: 'run' } }));
      writeFileSync(join(modules, 'evil/run'), '#!/usr/bin/env node\n');
      symlinkSync('../evil/run', join(modules, '.bin/evil'));
      writeFileSync(join(cwd, 'package-lock.json'), '{"packages":{}}');
      leave(cwd);
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      return { stdout, stderr, exited: Promise.resolve({ code: 0 }), kill() {} } as unknown as ChildProcess;
    },
  };
  return storeOf(spawner);
}

function storeOf(spawner: ProcessSpawner, clock: Clock = realClock): PackageStore {
  return new PackageStore({
    root: join(dir, 'packages'),
    dataDir: dir,
    spawner,
    clock,
    log: quietLog,
    user: undefined,
    timeoutMs: 10_000,
    maxBytes: 1 << 20,
  });
}

function replace(path: string, make: (path: string) => void): void {
  rmSync(path, { force: true });
  make(path);
}
const pipe = (path: string) => void execFileSync('mkfifo', [path]);

it('a link in the place of the record is not written through', async () => {
  const own = join(dir, 'of-the-gateway');
  writeFileSync(own, 'whole');
  const { argv } = await storeAfter((folder) => symlinkSync(own, join(folder, 'installed.json'))).ready(
    ASKED,
    false,
  );
  expect(readFileSync(own, 'utf8')).toBe('whole');
  expect(existsSync(argv.at(-1) ?? '')).toBe(true);
});

it.each<[string, (path: string) => void]>([
  ['a pipe', pipe],
  ['a link to a device without an end', (path) => symlinkSync('/dev/zero', path)],
  ['a link out of the folder', (path) => symlinkSync('/etc/hostname', path)],
])('%s is no program', async (_, make) => {
  const store = storeAfter((folder) => replace(join(folder, 'node_modules/evil/run'), make));
  await expect(store.ready(ASKED, false)).rejects.toMatchObject({ reason: 'PACKAGE_NOT_INSTALLED' });
});

it.each<[string, (path: string) => void]>([
  ['a pipe', pipe],
  ['a link to a device without an end', (path) => symlinkSync('/dev/zero', path)],
])('%s in the place of its lists is not read', async (_, make) => {
  const store = storeAfter((folder) => replace(join(folder, 'package-lock.json'), make));
  await store.ready(ASKED, false);
  expect(await store.list()).toMatchObject([{ contents: [] }]);
});

/** A package manager that runs until it is killed, or ends as it is told. */
function manager() {
  const ends: ((code: number | null) => void)[] = [];
  let killed = 0;
  const spawner: ProcessSpawner = {
    async spawn() {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const { promise, resolve } = Promise.withResolvers<{ code: number | null; signal: null }>();
      ends.push((code) => resolve({ code, signal: null }));
      const kill = () => {
        killed += 1;
        resolve({ code: null, signal: null });
      };
      return { pid: 1, stdout, stderr, exited: promise, kill };
    },
  };
  return { spawner, ends, killed: () => killed };
}
const left = () => readdirSync(join(dir, 'packages')).filter((name) => name.startsWith('.'));
const started = (ends: readonly unknown[], many = 1) => vi.waitUntil(() => ends.length === many);

it('an installation that nobody waits for any more is ended, and leaves nothing', async () => {
  const { spawner, ends, killed } = manager();
  const store = storeOf(spawner);
  const [one, two] = [new AbortController(), new AbortController()];
  const waits = [store.ready(ASKED, false, one.signal), store.ready(ASKED, false, two.signal)];
  await started(ends);
  one.abort(new Error('gone'));
  await expect(waits[0]).rejects.toThrow('gone');
  expect([killed(), ends.length]).toEqual([0, 1]);
  two.abort(new Error('gone, too'));
  await expect(waits[1]).rejects.toThrow('gone, too');
  await store.close();
  expect(killed()).toBe(1);
  expect(left()).toEqual([]);
});

it('whoever comes while one is being ended gets one of its own', async () => {
  const { spawner, ends } = manager();
  const store = storeOf(spawner);
  const first = new AbortController();
  const ended = store.ready(ASKED, false, first.signal);
  await started(ends);
  first.abort(new Error('gone'));
  await expect(ended).rejects.toThrow('gone');
  const next = store.ready(ASKED, false);
  await started(ends, 2);
  ends[1]?.(1);
  await expect(next).rejects.toMatchObject({ reason: 'PACKAGE_NOT_INSTALLED' });
});

it('a registry that fails is not asked again at once, and each time later', async () => {
  const clock = new FakeClock();
  const { spawner, ends } = manager();
  const store = storeOf(spawner, clock);
  const fails = async () => {
    const before = ends.length;
    const asked = store.ready(ASKED, false);
    await started(ends, before + 1);
    ends.at(-1)?.(1);
    await expect(asked).rejects.toMatchObject({ reason: 'PACKAGE_NOT_INSTALLED' });
  };
  await fails();
  await expect(store.ready(ASKED, false)).rejects.toMatchObject({
    reason: 'PACKAGE_NOT_INSTALLED',
    retryAfterMs: 1_000,
  });
  expect(ends).toHaveLength(1);
  await clock.advance(1_000);
  await fails();
  await expect(store.ready(ASKED, false)).rejects.toMatchObject({ retryAfterMs: 2_000 });
});

it.each<[string, ProcessSpawner]>([
  [
    'the package manager finds the disk full',
    {
      async spawn() {
        const [stdout, stderr] = [new PassThrough(), new PassThrough()];
        stderr.end('npm error code ENOSPC\nnpm error ECONNRESET, and so on\n');
        const exited = new Promise((resolve) => stderr.on('close', () => resolve({ code: 1 })));
        return { stdout, stderr, exited, kill() {} } as unknown as ChildProcess;
      },
    },
  ],
  [
    'the gateway itself does',
    {
      spawn: () =>
        Promise.reject(
          Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
        ),
    },
  ],
])('where %s, that is what is said, and nothing is left', async (_, spawner) => {
  await expect(storeOf(spawner).ready(ASKED, false)).rejects.toMatchObject({
    reason: 'PACKAGE_NOT_INSTALLED',
    message:
      'The package npm:evil@1.2.3 is not installed: the disk is full that executors.mcp.packages_dir lies on.',
  });
  expect(left()).toEqual([]);
});

it('what is asked of a registry leaves nothing where it throws', async () => {
  const spawner = { spawn: () => Promise.reject(new Error('no sandbox')) };
  await expect(
    storeOf(spawner).newest(
      { ...ASKED.packages[0], registry: 'npm', name: 'evil', extras: [], version: undefined },
      false,
    ),
  ).rejects.toMatchObject({ reason: 'PACKAGE_NOT_INSTALLED' });
  expect(left()).toEqual([]);
});

it('a start removes what processes that are gone have left, and nothing that is under way', async () => {
  const { spawner, ends } = manager();
  const store = storeOf(spawner);
  const stop = new AbortController();
  const waiting = store.ready(ASKED, false, stop.signal);
  await started(ends);
  const [own = ''] = left();
  const packages = join(dir, 'packages');
  const gone = spawnSync('true').pid;
  const names = {
    ofGone: own.replace(`.${process.pid}.`, `.${gone}.`),
    ofReused: own.replace(`.${startOfProcess(process.pid)}.`, '.1.'),
    elsewhere: own.replace(/^\.installing-[^.]*/, '.installing-000000000000'),
    oldElsewhere: own.replace(/^\.installing-[^.]*/, '.installing-111111111111'),
  };
  for (const name of Object.values(names))
    mkdirSync(join(packages, name, 'closed'), { recursive: true, mode: 0o500 });
  const yesterday = Date.now() / 1_000 - 25 * 3_600;
  utimesSync(join(packages, names.oldElsewhere), yesterday, yesterday);
  await storeOf(spawner).sweep();
  expect(left().toSorted()).toEqual([own, names.elsewhere].toSorted());
  stop.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await store.close();
});

it('what is installed runs where there is no npm; only an installation needs one', () => {
  const kind = new NpmPackages(undefined, (name, ...more) => {
    if (name === 'npm') throw new Error('there is no npm on PATH');
    return findInterpreter(name, ...more);
  });
  const folder = join(dir, 'installed');
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  mkdirSync(join(folder, 'node_modules/evil'));
  writeFileSync(join(folder, 'node_modules/evil/package.json'), JSON.stringify({ bin: 'run.js' }));
  writeFileSync(join(folder, 'node_modules/evil/run.js'), '');
  symlinkSync('../evil/run.js', join(folder, 'node_modules/.bin/evil'));
  expect(kind.program(ASKED, folder).argv.at(-1)).toBe(join(folder, 'node_modules/evil/run.js'));
  expect(() => kind.steps(ASKED, folder)).toThrow('there is no npm');
});
