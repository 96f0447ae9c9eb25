// What code of a package leaves in its folder does not lead the gateway elsewhere.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { McpPackage } from '../../ports/egress/mcp-servers.ts';
import type { ChildProcess, ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import { quietLog } from '../../../test/helpers/quiet-log.ts';
import { realClock } from '../../../test/helpers/python-ports.ts';
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
  return new PackageStore({
    root: join(dir, 'packages'),
    dataDir: dir,
    spawner,
    clock: realClock,
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
