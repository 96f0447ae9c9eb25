// The sandbox against who wants out of it, on every rung that is here. Each case can fail.
import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BACKEND_HERE, BUBBLEWRAP, RUNGS } from '../helpers/rungs.ts';
import { MIB, SandboxBench, textOf } from '../helpers/sandbox.ts';
import { newMark, python, pythonJson, sleepers } from '../helpers/sandboxed-python.ts';
import { SYSCALL_PRELUDE } from '../helpers/syscall-prelude.ts';
import { removeDir } from '../helpers/temp-tools.ts';

const FIXTURE = resolve(import.meta.dirname, '../fixtures/sandbox/many-runs.ts');
const IS_ROOT = process.getuid?.() === 0;

/** The rungs below the first one, each where its like is here. */
const LOWER = [
  ...BUBBLEWRAP.map(() => 'bwrap-container' as const),
  ...RUNGS.filter(([rung]) => rung === 'landlock').map(() => 'landlock' as const),
];
/** Where a program is at home: in a mount namespace, or on the disk, whose path it may be unable to walk. */
const HOMES = {
  bubblewrap: { path: /^\/workspace$/, variables: ['HOME=~', 'PWD=~', 'TMPDIR=/tmp'] },
  landlock: { path: /^(\/.*\/temporary\/.*|\.)$/, variables: ['HOME=~', 'TMPDIR=~'] },
};
const UNIX_REFUSED = { bubblewrap: ['ENOENT', 'ECONNREFUSED'], landlock: ['EAFNOSUPPORT', 'EAFNOSUPPORT'] };
const USER_SEEN = { bubblewrap: 65_534, landlock: IS_ROOT ? 65_533 : process.getuid?.() };
/** Whether new privileges are refused, whether the capabilities can be asked, and these: none. */
const RIGHTS = `(lambda version, own: [
  libc.prctl(39, 0, 0, 0, 0), libc.capget(version, own), list(own.raw),
])((ctypes.c_uint32 * 2)(0x20080522, 0), ctypes.create_string_buffer(24))`;
/** Shown without /proc, which not every rung has; what was masked is /dev/null. */
const OPEN_FILES =
  'print([fd for fd in range(3, 256) if tried(lambda fd=fd: os.fstat(fd).st_rdev) not in ("EBADF", os.makedev(1, 3))])';

let secrets: string;

beforeAll(() => {
  secrets = mkdtempSync(join(tmpdir(), 'ute-secrets-'));
  writeFileSync(join(secrets, 'canary'), 'CANARY-4711', { mode: 0o644 });
  chmodSync(secrets, 0o755);
});
afterAll(() => removeDir(secrets));

describe.each(RUNGS)('a way out, on the rung %s', (rung, settings) => {
  let bench: SandboxBench;
  beforeAll(() => void (bench = new SandboxBench(settings)));
  afterAll(() => bench.close());

  it('the files of the host are not there', async () => {
    const canary = join(secrets, 'canary');
    const { out, err } = textOf(
      await bench.shell(`cat /etc/passwd /etc/shadow /root/.bashrc ${canary}; ls /home /root /etc`),
    );
    expect(out).not.toContain('CANARY');
    expect(out.split('\n').filter((line) => line.includes('root'))).toEqual([]);
    expect(err.match(/No such file|Permission denied/g)?.length).toBeGreaterThanOrEqual(6);
  });

  it("the roots of processes in /proc do not lead to the host's files", async () => {
    const canary = join(secrets, 'canary');
    const { out } = textOf(
      await bench.shell(`for p in /proc/[0-9]*; do cat $p/root${canary} $p/cwd/../../..${canary}; done`),
    );
    expect(out).toBe('');
  });

  it("/proc/1/environ does not hold the gateway's environment", async () => {
    process.env['UTE_TEST_SECRET'] = 'SECRET-0815';
    try {
      const { out } = textOf(await bench.shell('cat /proc/*/environ /proc/*/cmdline; env'));
      expect(out).not.toContain('SECRET-0815');
      expect(out).not.toContain('seccomp');
      expect(out).toContain('HOME=');
    } finally {
      delete process.env['UTE_TEST_SECRET'];
    }
  });

  it('the environment is exactly the one that was made for it', async () => {
    const { out } = textOf(await bench.run(['/usr/bin/env'], { env: { TOOL: 'yes' } }));
    const home = /^HOME=(.+)$/m.exec(out)?.[1] ?? '';
    expect(home).toMatch(HOMES[rung].path);
    const lines = out.trim().split('\n');
    expect(
      lines.map((line) => (line.endsWith(`=${home}`) ? line.replace(home, '~') : line)).toSorted(),
    ).toEqual(['LANG=C.UTF-8', 'PATH=/usr/bin:/bin', 'TOOL=yes', ...HOMES[rung].variables].toSorted());
  });

  it('core_pattern cannot be set to a program that the kernel would run', async () => {
    const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
    expect(await pythonJson(bench, 'tried(lambda: write("/proc/sys/kernel/core_pattern"))')).toMatch(
      /^(EROFS|EACCES|EPERM)$/,
    );
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(before);
  });

  it('nothing in /proc/sys, nor the system request key, can be written', async () => {
    const paths = [
      '/proc/sys/vm/swappiness',
      '/proc/sys/kernel/hostname',
      '/proc/sysrq-trigger',
      '/proc/self/oom_score_adj',
      '/proc/1/mem',
    ];
    const results = await pythonJson(
      bench,
      `[tried(lambda p=p: write(p)) for p in ${JSON.stringify(paths)}]`,
    );
    for (const result of results as string[]) expect(result).toMatch(/^(EROFS|EACCES|EPERM|ENOENT)$/);
  });

  it('nothing can be written to the root, /dev, /usr or /proc, and /sys is not shown', async () => {
    const paths = ['/x', '/dev/x', '/usr/x', '/etc/x', '/proc/x', '/bin/x', '/run/x'];
    const results = await pythonJson(
      bench,
      `[tried(lambda p=p: write(p)) for p in ${JSON.stringify(paths)}]`,
    );
    for (const result of results as string[]) expect(result).toMatch(/^(EROFS|EACCES|ENOENT)$/);
    expect(await pythonJson(bench, 'tried(lambda: os.listdir("/sys"))')).toMatch(/^(ENOENT|EACCES)$/);
  });

  it('no file system can be mounted, unmounted or mounted anew for writing', async () => {
    expect(
      await pythonJson(
        bench,
        '[call("mount", b"none", b"/workspace", b"tmpfs", 0, None), call("umount2", b"/proc", 2),' +
          ' call("mount", None, b"/", None, 32, None), call("open_tree", -100, b"/", 1), call("fsopen", b"tmpfs", 0), call("pivot_root", b"/", b"/")]',
      ),
    ).toEqual(Array(6).fill('EPERM'));
  });

  it('no process can be traced, read or written', async () => {
    expect(
      await pythonJson(
        bench,
        '[call("ptrace", 0, 0, 0, 0), call("ptrace", 16, 1, 0, 0), call("process_vm_readv", 1, None, 0, None, 0, 0)]',
      ),
    ).toEqual(Array(3).fill('EPERM'));
  });

  it('io_uring, with its way around filters, is not there', async () => {
    expect(await pythonJson(bench, 'call("io_uring_setup", 8, ctypes.create_string_buffer(256))')).toBe(
      'ENOSYS',
    );
  });

  it('no namespace can be made or entered', async () => {
    const result = await pythonJson(
      bench,
      '[call("unshare", 0x10000000), call("unshare", 0x20000), call("clone", 0x10000011, 0, 0, 0, 0), call("clone3", None, 0), call("setns", 0, 0)]',
    );
    expect(result).toEqual(['EPERM', 'EPERM', 'EPERM', 'ENOSYS', 'EPERM']);
  });

  it('no socket leads out: not inet, netlink, packet, the crypto family, or the hypervisor', async () => {
    const families = {
      inet: 2,
      inet6: 10,
      netlink: 16,
      packet: 17,
      alg: 38,
      vsock: 40,
      bluetooth: 31,
      xdp: 44,
    };
    const result = await pythonJson(
      bench,
      `[call("socket", f, 1, 0) for f in ${JSON.stringify(Object.values(families))}]`,
    );
    expect(result).toEqual(Array(8).fill('EAFNOSUPPORT'));
  });

  it('a unix socket of the host, by path or by abstract name, is not reached', async () => {
    const path = join(secrets, 'socket');
    const abstract = `ute-test-${process.pid}`;
    let visits = 0;
    const servers = [
      createServer(() => (visits += 1)).listen(path),
      createServer(() => (visits += 1)).listen(`\0${abstract}`),
    ];
    try {
      spawnSync('chmod', ['777', path]);
      const result = await pythonJson(
        bench,
        `[tried(lambda a=a: __import__("socket").socket(1, 1).connect(a)) for a in (${JSON.stringify(path)}, "\\0${abstract}")]`,
      );
      expect(result).toEqual(UNIX_REFUSED[rung]);
      expect(visits).toBe(0);
    } finally {
      for (const server of servers) server.close();
    }
  });

  it('a setuid program gives nobody more rights', async () => {
    expect(await pythonJson(bench, RIGHTS)).toEqual([1, 0, Array(24).fill(0)]);
    expect(
      await pythonJson(bench, '[tried(lambda: os.setuid(0)), tried(lambda: os.setgroups([0])), os.getuid()]'),
    ).toEqual([expect.stringMatching(/EPERM|EINVAL/), 'EPERM', USER_SEEN[rung]]);
  });

  it('the keyrings of the host cannot be asked, nor programs loaded into the kernel', async () => {
    expect(
      await pythonJson(
        bench,
        '[call("keyctl", 0, -3, 0), call("add_key", b"user", b"x", b"y", 1, -3), call("bpf", 0, None, 0), call("perf_event_open", None, 0, -1, -1, 0),' +
          ' call("userfaultfd", 0), call("init_module", None, 0, None), call("kexec_load", 0, 0, None, 0), call("open_by_handle_at", -1, None, 0)]',
      ),
    ).toEqual(Array(8).fill('EPERM'));
  });

  it('a call by the second table of the machine ends the program', async () => {
    const outcome = await bench.python(`${SYSCALL_PRELUDE}print(call(0x40000027))`);
    const { out } = textOf(outcome);
    expect([outcome.exitCode, out.trim()]).toEqual(process.arch === 'x64' ? [159, ''] : [0, 'ENOSYS']);
  });

  it('killing all processes kills nobody else', async () => {
    const { ended } = await bench.shell(`kill -9 ${process.pid}; kill -9 -1; true`);
    expect(ended).toBe('exited');
  });

  it('nobody inside is root on the host', async () => {
    expect(textOf(await bench.shell('touch mine; stat -c %u mine')).out).toBe(`${USER_SEEN[rung]}\n`);
    const mark = newMark();
    const caller = new AbortController();
    let owners: number[] = [];
    const onOutput = () => {
      owners = sleepers(mark).map((pid) => statSync(`/proc/${pid}`).uid);
      caller.abort(new Error('seen'));
    };
    const argv = ['/bin/sh', '-c', 'echo up; sleep 60', mark];
    await expect(bench.run(argv, { onOutput, signal: caller.signal })).rejects.toThrow('seen');
    expect([...new Set(owners)]).toContain(IS_ROOT ? 65_533 : process.getuid?.());
    expect(IS_ROOT && owners.includes(0)).toBe(false);
  });

  it('a device node cannot be made', async () => {
    expect(
      await pythonJson(
        bench,
        '[tried(lambda: os.mknod("sda", 0o60666, os.makedev(8, 0))), tried(lambda: os.mknod("mem", 0o20666, os.makedev(1, 1)))]',
      ),
    ).toEqual(['EPERM', 'EPERM']);
  });

  it("the sandbox's own descriptors are not open for the program", async () => {
    expect(await python(bench, OPEN_FILES)).toBe('[]');
  });
});

describe.each(BUBBLEWRAP)('a way out, on the rung %s alone', (_rung, settings) => {
  let bench: SandboxBench;
  beforeAll(() => void (bench = new SandboxBench(settings)));
  afterAll(() => bench.close());

  it('no capability is left to be had', async () => {
    const status = await python(bench, 'print(open("/proc/self/status").read())');
    expect(status.match(/^Cap(Eff|Prm|Bnd):\s+0+$/gm)).toHaveLength(3);
  });

  it('other processes are not seen', async () => {
    const pids = await pythonJson(bench, '[p for p in os.listdir("/proc") if p.isdigit()]');
    expect(pids).toEqual(['1']);
  });
});

describe('the sandbox that is used where nothing is said about it', () => {
  it('is the best that is here', async () => {
    const bench = new SandboxBench();
    expect(await bench.sandbox.describe()).toMatchObject({ backend: BACKEND_HERE });
    await bench.close();
  });

  it('has no file open that is open in the gateway without its knowledge', () => {
    const leaked = openSync(join(secrets, 'canary'), 'r');
    try {
      const stdio: ('ignore' | 'pipe' | number)[] = Array.from({ length: 21 }, () => 'ignore');
      stdio.splice(1, 2, 'pipe', 'pipe');
      stdio[20] = leaked;
      const { stdout } = spawnSync(process.execPath, [FIXTURE, 'fds'], { stdio, encoding: 'utf8' });
      expect(stdout).toBe('[]\n');
    } finally {
      closeSync(leaked);
    }
  });
});

describe.each(LOWER)('the lower rung %s', (backend) => {
  let lower: SandboxBench;
  beforeAll(() => {
    lower = new SandboxBench({ backends: [backend] });
  });
  afterAll(() => lower.close());

  it('is what is used when it is all there is', async () => {
    expect(await lower.sandbox.describe()).toMatchObject({ backend });
    expect(
      textOf(
        await lower.shell('cat in > out; cat out', { files: [{ path: 'in', content: Buffer.from('x') }] }),
      ).out,
    ).toBe('x');
  });

  it('shows no file of the host', async () => {
    const { out } = textOf(
      await lower.shell(
        `cat /etc/passwd /proc/1/environ /proc/${process.pid}/environ ${join(secrets, 'canary')}; ls /home /root /tmp/ute*`,
      ),
    );
    expect(out).toBe('');
  });

  it('lets nothing be written outside, cut short or mounted', async () => {
    const paths = ['/x', '/usr/x', '/dev/x', '/etc/x', join(secrets, 'canary')];
    const results = await pythonJson(
      lower,
      `[tried(lambda p=p: write(p)) for p in ${JSON.stringify(paths)}] + [tried(lambda: os.truncate(${JSON.stringify(join(secrets, 'canary'))}, 0)), call("mount", b"x", b"/", b"tmpfs", 0, None)]`,
    );
    for (const result of results as string[]) expect(result).toMatch(/^(EROFS|EACCES|ENOENT|EPERM)$/);
    expect(readFileSync(join(secrets, 'canary'), 'utf8')).toBe('CANARY-4711');
  });

  it('has no sockets, no tracing, no namespaces, and signals nobody outside', async () => {
    const result = await pythonJson(
      lower,
      `[call("socket", 2, 1, 0), call("socket", 40, 1, 0), call("ptrace", 16, ${process.pid}, 0, 0), call("unshare", 0x10000000), tried(lambda: os.kill(${process.pid}, 9)), call("io_uring_setup", 1, None)]`,
    );
    expect(result).toEqual([
      'EAFNOSUPPORT',
      'EAFNOSUPPORT',
      'EPERM',
      'EPERM',
      expect.stringMatching(/EPERM|ESRCH/),
      'ENOSYS',
    ]);
  });

  it('leaves no daemon behind', async () => {
    const mark = newMark();
    await lower.shell(`(setsid sleep ${mark} &); (sleep ${mark} &); sleep ${mark} & sleep 0.1`);
    await lower.shell(`(setsid sleep ${mark} &); (sleep ${mark} &); sleep ${mark}`, {
      limits: { wallMs: 300 },
    });
    expect(sleepers(mark)).toEqual([]);
  });

  it('bounds memory, processes and the workspace', async () => {
    const memory = await lower.python('b = bytearray(600 << 20); print(len(b))', {
      limits: { memoryBytes: 128 * MIB },
    });
    expect(textOf(memory).out).toBe('');
    const bomb =
      'import os,time\nn=0\ntry:\n  while n<1000:\n    if os.fork()==0: time.sleep(9); os._exit(0)\n    n+=1\nexcept OSError: print(n<40)';
    expect(textOf(await lower.python(bomb, { limits: { maxProcesses: 20 } })).out).toBe('True\n');
    const disk = await lower.shell(
      'for i in 1 2 3 4 5 6 7 8 9; do head -c 1000000 /dev/zero > $i; done; sleep 1',
      { limits: { workspaceBytes: 4 * MIB } },
    );
    expect(disk.ended === 'disk_limit' || textOf(disk).err.includes('No space left')).toBe(true);
  });
});

it('without any rung, nothing runs and the message says what to install', async () => {
  const none = new SandboxBench({ backends: [] });
  try {
    expect(await none.sandbox.describe()).toMatchObject({ backend: 'none' });
    const refusal = {
      type: 'UNAVAILABLE',
      reason: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('apt-get install bubblewrap'),
    };
    await expect(none.shell('true')).rejects.toMatchObject(refusal);
    const confinement = { readable: [], network: 'none', memoryBytes: MIB, maxProcesses: 1 } as const;
    await expect(
      none.spawner.spawn({ argv: ['/bin/true'], cwd: '/', env: {}, channel: false, confinement }),
    ).rejects.toMatchObject(refusal);
  } finally {
    await none.close();
  }
});
