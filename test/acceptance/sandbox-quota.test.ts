// The limits of workspaces against who writes where nobody counts, on both rungs; and what is kept of it on the disk.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { RUNGS } from '../helpers/rungs.ts';
import { keptAs, MIB, SandboxBench, textOf } from '../helpers/sandbox.ts';

const QUOTA = 16 * MIB;
/** Each run writes ten times its quota at most, and then holds it until it is ended. */
const LIMITS = { workspaceBytes: QUOTA, fileBytes: MIB, wallMs: 15_000 };

const writing = (take: string) => `
import errno, mmap, os, time
held, kept = 0, []
def take(n):
    ${take}
try:
    for n in range(160):
        take(n)
        held += 1
        time.sleep(0.005)
    time.sleep(60)
except OSError as error:
    print(held, errno.errorcode[error.errno])
`;
const MIB_OF_X = 'b"x" * (1 << 20)';

const HIDDEN = {
  'files that have no name any more': `
    fd = os.open("f", os.O_CREAT | os.O_RDWR); os.unlink("f"); kept.append(fd); os.write(fd, ${MIB_OF_X})`,
  'files that never had a name': `
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR); kept.append(fd); os.write(fd, ${MIB_OF_X})`,
  'files that are only mapped': `
    fd = os.open("f", os.O_CREAT | os.O_RDWR); os.write(fd, ${MIB_OF_X})
    kept.append(mmap.mmap(fd, 4096)); os.unlink("f"); os.close(fd)`,
  'a folder that cannot be read': `
    os.makedirs("d", 0o300, exist_ok=True); fd = os.open(f"d/{n}", os.O_CREAT | os.O_WRONLY)
    os.write(fd, ${MIB_OF_X}); os.close(fd)`,
  'files with many names': `
    fd = os.open("f", os.O_CREAT | os.O_RDWR); os.write(fd, ${MIB_OF_X}); os.close(fd)
    os.link("f", f"l{n}"); os.unlink("f")`,
} as const;

describe.each(RUNGS)('on the rung %s', (rung, settings) => {
  let bench: SandboxBench;
  beforeAll(() => {
    bench = new SandboxBench(settings);
  });
  afterAll(() => bench.close());

  const archives = () => {
    const root = join(bench.dir, 'workspaces/sessions');
    return readdirSync(root, { recursive: true, encoding: 'utf8' })
      .map((name) => statSync(join(root, name)))
      .filter((found) => found.isFile());
  };

  describe.each([
    ['temporary', { kind: 'ephemeral' }],
    ['kept', keptAs('hiding')],
  ] as const)('a %s workspace', (_kind, workspace) => {
    it.each(Object.entries(HIDDEN))('holds no more than its size in %s', async (_name, take) => {
      const outcome = await bench.python(writing(take), { workspace, limits: LIMITS });
      const [, held = '0', why] = /^(\d+) (\w+)$/m.exec(textOf(outcome).out) ?? [];
      // Under bubblewrap the file system is full; without mounts the command is ended.
      expect(rung === 'landlock' ? outcome.ended : why).toBe(rung === 'landlock' ? 'disk_limit' : 'ENOSPC');
      expect(Number(held) * MIB).toBeLessThanOrEqual(QUOTA);
      expect(readdirSync(join(bench.dir, 'workspaces/temporary'))).toEqual([]);
    });
  });

  it('holds no more than its size where the first thread of a process has ended', async () => {
    const script = `import ctypes, threading\ndef rest():\n  exec(${JSON.stringify(writing(HIDDEN['files that have no name any more']))}, {})\nthreading.Thread(target=rest).start()\nctypes.CDLL(None).syscall(60, 0)`;
    const { ended } = await bench.python(script, { limits: LIMITS });
    expect(ended).toBe(rung === 'landlock' ? 'disk_limit' : 'exited');
  });

  it('processes that end while they are looked at are not over it', async () => {
    const script =
      'import os\nfor _ in range(600):\n  child = os.fork()\n  if child == 0: os._exit(0)\n  os.waitpid(child, 0)';
    expect(await bench.python(script, { limits: LIMITS })).toMatchObject({ ended: 'exited', exitCode: 0 });
  });

  it('no file is larger than the workspace it lies in', async () => {
    const script = 'head -c 9000000 /dev/zero > big; stat -c %s big';
    const limits = { workspaceBytes: 4 * MIB, fileBytes: 64 * MIB };
    const outcome = await bench.shell(script, { limits });
    expect(Number(textOf(outcome).out.trim() || 0)).toBeLessThanOrEqual(4 * MIB);
  });

  it('space is not taken by a call that writes nothing, where it is counted by looking', async () => {
    const script = `import os\nfd = os.open("f", os.O_CREAT | os.O_RDWR)\ntry: os.posix_fallocate(fd, 0, 1 << 20)\nexcept OSError as e: print(e)\nprint(os.fstat(fd).st_size)`;
    expect(textOf(await bench.python(script)).out).toBe(`${MIB}\n`);
  });

  it('on the disk a session is one file of the gateway, no larger than its limit', async () => {
    const workspace = keptAs('one file', 'tidy');
    await bench.shell('true', { workspace: keptAs('another', 'tidy') });
    const before = archives().length;
    await bench.shell(
      'mkdir -p a/b; head -c 1000000 /dev/urandom > a/b/c; chmod 600 a/b/c 2>/dev/null; true',
      {
        workspace,
        limits: { workspaceBytes: 2 * MIB },
      },
    );
    const found = archives();
    expect(found).toHaveLength(before + 1);
    for (const { uid, mode, size } of found) {
      expect([uid, mode & 0o777]).toEqual([process.getuid?.(), 0o600]);
      expect(size).toBeLessThanOrEqual(QUOTA);
    }
  });

  it('what a session leaves is found again: files, links, pipes, holes, and what was shut to its owner', async () => {
    const workspace = keptAs('all kinds');
    // Without mounts, what cannot be looked into is too much.
    const shut = rung === 'landlock' ? 700 : 300;
    const script = `umask 022; echo text > file; ln -s file link; ln file hard; mkfifo pipe; mkdir -p x/y; echo deep > x/y/z
      truncate -s 12M hole; mkdir -m ${shut} shut; echo in > shut/it; printf old > 'odd
name'; touch file`;
    await bench.shell(script, { workspace });
    const look = `cat link hard x/y/z shut/it 'odd
name'; stat -c %s hole; test -p pipe && echo pipe; stat -c %h file; readlink link`;
    const { out, err } = textOf(await bench.shell(look, { workspace }));
    expect({ out, err }).toEqual({
      out: `text\ntext\ndeep\nin\nold${12 * MIB}\npipe\n2\nfile\n`,
      err: '',
    });
  });

  it('a command that is ended, or whose caller has gone, leaves what it wrote', async () => {
    const workspace = keptAs('ended');
    const timedOut = await bench.shell('echo 1 > timed; sleep 60', { workspace, limits: { wallMs: 1500 } });
    expect(timedOut.ended).toBe('timeout');
    const caller = new AbortController();
    const run = bench.shell('echo 2 > aborted; echo up; sleep 60', {
      workspace,
      signal: caller.signal,
      onOutput: () => caller.abort(new Error('gone')),
    });
    await expect(run).rejects.toThrow('gone');
    expect(textOf(await bench.shell('cat timed aborted', { workspace })).out).toBe('1\n2\n');
  });

  it('a root folder that a command shuts does not shut out the next', async () => {
    const workspace = keptAs('shut root');
    await bench.shell('echo 1 > a; chmod 0 . 2>/dev/null; true', { workspace });
    expect(textOf(await bench.shell('cat a; echo 2 > b; cat b', { workspace })).out).toBe('1\n2\n');
  });

  it('folders nested deeper than anybody needs are not kept, and the session is as it was before', async () => {
    const workspace = keptAs('nested');
    await bench.shell('echo 1 > a', { workspace });
    const script = 'import os; os.makedirs("/".join(["d"] * 40))';
    expect((await bench.python(script, { workspace })).ended).toBe('disk_limit');
    expect(textOf(await bench.shell('ls', { workspace })).out).toBe('a\n');
  });

  it('a tool with less room does not spoil what a session has kept', async () => {
    const workspace = keptAs('less room', 'roomy');
    await bench.shell('head -c 3000000 /dev/urandom > big; head -c 3000000 /dev/urandom > big2', {
      workspace,
    });
    const small = bench.shell('true', { workspace, limits: { workspaceBytes: MIB, fileBytes: MIB } });
    await expect(small).rejects.toMatchObject({ type: 'UNAVAILABLE', reason: 'WORKSPACE_NOT_RESTORED' });
    expect(textOf(await bench.shell('ls', { workspace })).out).toBe('big\nbig2\n');
  });

  it('the sessions of one tenant take no more than their share of the disk, and no share of another', async () => {
    const own = new SandboxBench({ ...settings, workspace_tenant_bytes: 3 * MIB });
    const write = (key: string, owner: string) =>
      own.shell('head -c 700000 /dev/urandom > file', {
        workspace: keptAs(key, owner),
        limits: { workspaceBytes: MIB },
      });
    try {
      for (const key of ['1', '2', '3']) expect((await write(key, 'a')).ended).toBe('exited');
      await expect(write('4', 'a')).rejects.toMatchObject({
        type: 'BUDGET_EXCEEDED',
        reason: 'WORKSPACES_FULL',
      });
      expect((await write('4', 'b')).ended).toBe('exited');
      expect((await write('3', 'a')).ended).toBe('exited');
      // Promised to runs under way, too: four at once are one more than there is room for.
      const atOnce = await Promise.allSettled(['1', '2', '3', '4'].map((key) => write(key, 'c')));
      expect(atOnce.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    } finally {
      await own.close();
    }
  });

  it('a disk with no more than its reserve left is not written to', async () => {
    const own = new SandboxBench({ ...settings, workspace_free_bytes: 2 ** 50 });
    try {
      const refusal = { type: 'UNAVAILABLE', reason: 'DISK_FULL' };
      await expect(own.shell('true', { workspace: keptAs('x') })).rejects.toMatchObject(refusal);
      const temporary = await own.shell('echo ran').then(
        (outcome) => textOf(outcome).out,
        (error: unknown) => (error as ToolFailure).reason,
      );
      expect(temporary).toEqual(rung === 'landlock' ? refusal.reason : 'ran\n');
    } finally {
      await own.close();
    }
  });

  it('no table of mounts shows where the gateway keeps its data', async () => {
    const script =
      'cat /proc/self/mountinfo /proc/1/mountinfo /proc/self/mounts /proc/mounts /proc/self/mountstats';
    const workspace = keptAs('mounts');
    await bench.shell('echo 1 > a', { workspace });
    for (const extras of [{ workspace }, {}]) {
      const { out } = textOf(await bench.shell(script, extras));
      expect(out.includes('/workspace')).toBe(rung === 'bubblewrap');
      expect(out).not.toContain(bench.dir);
      expect(out).not.toContain('sessions');
      expect(out).not.toContain('temporary');
    }
  });
});
