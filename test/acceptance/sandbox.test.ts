// The sandbox against who wants out of it, to use everything up, or to leave something behind. Each case can fail.
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/python-ports.ts';
import { keptAs, MIB, SandboxBench, textOf, type RunExtras } from '../helpers/sandbox.ts';
import { SYSCALL_PRELUDE } from '../helpers/syscall-prelude.ts';
import { removeDir } from '../helpers/temp-tools.ts';

const RUNS_AS_PID_1 = 1_000;
const FIXTURE = resolve(import.meta.dirname, '../fixtures/sandbox/many-runs.ts');
const IS_ROOT = process.getuid?.() === 0;

let bench: SandboxBench;
let secrets: string;

beforeAll(() => {
  bench = new SandboxBench();
  secrets = mkdtempSync(join(tmpdir(), 'ute-secrets-'));
  writeFileSync(join(secrets, 'canary'), 'CANARY-4711', { mode: 0o644 });
  spawnSync('chmod', ['755', secrets]);
});
afterAll(async () => {
  await bench.close();
  removeDir(secrets);
});

async function python(body: string, extras: RunExtras = {}, on = bench): Promise<string> {
  const outcome = await on.python(SYSCALL_PRELUDE + body, extras);
  const { out, err } = textOf(outcome);
  expect({ ended: outcome.ended, err }).toEqual({ ended: 'exited', err: '' });
  return out.trim();
}

const pythonJson = async (expression: string, extras: RunExtras = {}, on = bench): Promise<unknown> =>
  JSON.parse(await python(`print(json.dumps(${expression}))`, extras, on)) as unknown;

const sleepers = (mark: string) =>
  readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(mark);
    } catch {
      return false;
    }
  });

/** A number of seconds that nothing else on the machine sleeps. */
let nextMark = 0;
const newMark = () => `${700_000 + (process.pid % 10_000) * 10 + (nextMark += 1)}.5`;

describe('a way out', () => {
  it("the machine's sandbox is a whole one", async () => {
    expect(await bench.sandbox.describe()).toMatchObject({ backend: 'bwrap-full', refused: [] });
  });

  it('the files of the host are not there', async () => {
    const canary = join(secrets, 'canary');
    const { out, err } = textOf(
      await bench.shell(`cat /etc/passwd /etc/shadow /root/.bashrc ${canary}; ls /home /root /etc`),
    );
    expect(out).not.toContain('CANARY');
    expect(out.split('\n').filter((line) => line.includes('root'))).toEqual([]);
    expect(err.match(/No such file/g)?.length).toBeGreaterThanOrEqual(6);
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
      expect(out).toContain('HOME=/workspace');
    } finally {
      delete process.env['UTE_TEST_SECRET'];
    }
  });

  it('the environment is exactly the one that was made for it', async () => {
    const { out } = textOf(await bench.run(['/usr/bin/env'], { env: { TOOL: 'yes' } }));
    expect(out.trim().split('\n').toSorted()).toEqual(
      [
        'HOME=/workspace',
        'LANG=C.UTF-8',
        'PATH=/usr/bin:/bin',
        'PWD=/workspace',
        'TMPDIR=/tmp',
        'TOOL=yes',
      ].toSorted(),
    );
  });

  it('core_pattern cannot be set to a program that the kernel would run', async () => {
    const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
    expect(await pythonJson('tried(lambda: write("/proc/sys/kernel/core_pattern"))')).toMatch(
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
    const results = await pythonJson(`[tried(lambda p=p: write(p)) for p in ${JSON.stringify(paths)}]`);
    for (const result of results as string[]) expect(result).toMatch(/^(EROFS|EACCES|EPERM|ENOENT)$/);
  });

  it('nothing can be written to the root, /dev, /usr or /proc, and there is no /sys', async () => {
    const paths = ['/x', '/dev/x', '/usr/x', '/etc/x', '/proc/x', '/bin/x', '/run/x'];
    const results = await pythonJson(`[tried(lambda p=p: write(p)) for p in ${JSON.stringify(paths)}]`);
    for (const result of results as string[]) expect(result).toMatch(/^(EROFS|EACCES|ENOENT)$/);
    expect(await pythonJson('os.path.exists("/sys")')).toBe(false);
  });

  it('no file system can be mounted, unmounted or mounted anew for writing', async () => {
    expect(
      await pythonJson(
        '[call("mount", b"none", b"/workspace", b"tmpfs", 0, None), call("umount2", b"/proc", 2),' +
          ' call("mount", None, b"/", None, 32, None), call("open_tree", -100, b"/", 1), call("fsopen", b"tmpfs", 0), call("pivot_root", b"/", b"/")]',
      ),
    ).toEqual(Array(6).fill('EPERM'));
  });

  it('no process can be traced, read or written', async () => {
    expect(
      await pythonJson(
        '[call("ptrace", 0, 0, 0, 0), call("ptrace", 16, 1, 0, 0), call("process_vm_readv", 1, None, 0, None, 0, 0)]',
      ),
    ).toEqual(Array(3).fill('EPERM'));
  });

  it('io_uring, with its way around filters, is not there', async () => {
    expect(await pythonJson('call("io_uring_setup", 8, ctypes.create_string_buffer(256))')).toBe('ENOSYS');
  });

  it('no namespace can be made or entered', async () => {
    const result = await pythonJson(
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
        `[tried(lambda a=a: __import__("socket").socket(1, 1).connect(a)) for a in (${JSON.stringify(path)}, "\\0${abstract}")]`,
      );
      expect(result).toEqual(['ENOENT', 'ECONNREFUSED']);
      expect(visits).toBe(0);
    } finally {
      for (const server of servers) server.close();
    }
  });

  it('a setuid program gives nobody more rights', async () => {
    const status = await python('print(open("/proc/self/status").read())');
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Cap(Eff|Prm|Bnd):\s+0+$/m);
    expect(
      await pythonJson('[tried(lambda: os.setuid(0)), tried(lambda: os.setgroups([0])), os.getuid()]'),
    ).toEqual([expect.stringMatching(/EPERM|EINVAL/), 'EPERM', 65_534]);
  });

  it('the keyrings of the host cannot be asked, nor programs loaded into the kernel', async () => {
    expect(
      await pythonJson(
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

  it('other processes are not seen, and killing all of them kills nobody else', async () => {
    const pids = await pythonJson('[p for p in os.listdir("/proc") if p.isdigit()]');
    expect(pids).toEqual(['1']);
    const { ended } = await bench.shell(`kill -9 ${process.pid}; kill -9 -1; true`);
    expect(ended).toBe('exited');
  });

  it('nobody inside is root on the host', async () => {
    expect(textOf(await bench.shell('touch mine; stat -c %u mine')).out).toBe('65534\n');
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
        '[tried(lambda: os.mknod("sda", 0o60666, os.makedev(8, 0))), tried(lambda: os.mknod("mem", 0o20666, os.makedev(1, 1)))]',
      ),
    ).toEqual(['EPERM', 'EPERM']);
  });

  it('a file open in the gateway without its knowledge is not open in the sandbox', () => {
    const leaked = openSync(join(secrets, 'canary'), 'r');
    try {
      const stdio: ('ignore' | 'pipe' | number)[] = Array.from({ length: 21 }, () => 'ignore');
      stdio.splice(1, 2, 'pipe', 'pipe');
      stdio[20] = leaked;
      const { stdout } = spawnSync(process.execPath, [FIXTURE, 'fds'], { stdio, encoding: 'utf8' });
      expect(stdout).toContain('/proc/');
      expect(stdout).not.toContain('CANARY');
      expect(stdout).not.toContain('canary');
    } finally {
      closeSync(leaked);
    }
  });

  it("the sandbox's own descriptors are not open for the program", async () => {
    const { out } = textOf(await bench.shell('ls -l /proc/self/fd'));
    const others = out
      .split('\n')
      .filter((line) => line.includes('->') && !/ [012] -> |\/dev\/null|\/proc\//.test(line));
    expect(others).toEqual([]);
  });
});

describe('using everything up', () => {
  it('a fork bomb stops at the limit, and is gone afterwards', async () => {
    const mark = newMark();
    const out = await python(
      `
children = 0
try:
    while children < 10000:
        if os.fork() == 0:
            os.execv("/bin/sleep", ["sleep", "${mark}"])
        children += 1
except OSError as error:
    print(children, errno.errorcode[error.errno])`,
      { limits: { maxProcesses: 20 } },
    );
    expect(out).toMatch(/^(1\d) EAGAIN$/);
    expect(sleepers(mark)).toEqual([]);
  });

  it('memory beyond the limit is not given', async () => {
    const outcome = await bench.python('b = bytearray(600 << 20); print(len(b))', {
      limits: { memoryBytes: 128 * MIB },
    });
    expect(textOf(outcome).out).toBe('');
    expect(outcome.exitCode).not.toBe(0);
  });

  it('memory shared by no file counts too', async () => {
    const script =
      'import mmap\nm = mmap.mmap(-1, 600 << 20)\nfor i in range(0, 600 << 20, 4096): m[i] = 1\nprint("all")';
    const outcome = await bench.python(script, { limits: { memoryBytes: 128 * MIB } });
    expect(textOf(outcome).out).toBe('');
  });

  it.each([
    ['/workspace', 4 * MIB, 4],
    ['/tmp', 4 * MIB, 4],
    ['/dev/shm', 16 * MIB, 1],
  ])('%s holds no more than its size', async (place, workspaceBytes, mib) => {
    const { out, err } = textOf(
      await bench.shell(
        `for i in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero > ${place}/$i || break; done; du -sm ${place} | cut -f1`,
        {
          limits: { workspaceBytes },
        },
      ),
    );
    expect(err).toContain('No space left');
    expect(Number(out)).toBeLessThanOrEqual(mib);
  });

  it('no file grows beyond its limit, in a kept workspace either', async () => {
    const outcome = await bench.shell('head -c 10000000 /dev/zero > big; stat -c %s big', {
      workspace: keptAs('big'),
      limits: { fileBytes: MIB },
    });
    expect(Number(textOf(outcome).out)).toBeLessThanOrEqual(MIB);
  });

  it('endless output is cut at its limit', async () => {
    const outcome = await bench.run(['/usr/bin/yes'], { limits: { outputBytes: 100_000 } });
    expect({ ended: outcome.ended, bytes: outcome.stdout.length }).toEqual({
      ended: 'output_limit',
      bytes: 100_000,
    });
  });

  it('two streams share one limit', async () => {
    const outcome = await bench.shell('yes & yes >&2', { limits: { outputBytes: 100_000 } });
    expect(outcome.ended).toBe('output_limit');
    expect(outcome.stdout.length + outcome.stderr.length).toBe(100_000);
  });

  it.each([
    ['sleeps', 'sleep 60'],
    ['has closed its output', 'exec >&- 2>&- <&-; sleep 60'],
    ['has stopped itself', 'kill -STOP $$; sleep 60'],
    ['ignores every signal it can', "trap '' TERM INT HUP QUIT; while true; do sleep 1; done"],
    ['has left daemons that hold its output', '(setsid sleep 60 &); (setsid sleep 60 &); sleep 60'],
  ])('who %s is ended at its time', async (_name, script) => {
    const startedAt = performance.now();
    const { ended } = await bench.shell(script, { limits: { wallMs: 300 } });
    expect(ended).toBe('timeout');
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('a loop ends at its processor time', async () => {
    const outcome = await bench.python('while True: pass', { limits: { cpuSeconds: 1, wallMs: 60_000 } });
    expect(outcome).toMatchObject({ ended: 'exited' });
    expect(outcome.exitCode).toBeGreaterThanOrEqual(137);
  });

  it('descriptors run out for the program alone', async () => {
    const count = await pythonJson(
      '(lambda fs: [fs.append(tried(lambda: os.open("/dev/null", 0))) for _ in range(1000)] and sum(isinstance(f, int) for f in fs))([])',
    );
    expect(count).toBeLessThan(256);
  });

  it('a call that is given up is given up at once, and leaves nobody', async () => {
    const mark = newMark();
    const caller = new AbortController();
    const onOutput = () => caller.abort(new Error('the caller has gone'));
    const run = bench.shell(`(setsid sleep ${mark} &); echo up; sleep ${mark}`, {
      signal: caller.signal,
      onOutput,
    });
    await expect(run).rejects.toThrow('the caller has gone');
    expect(sleepers(mark)).toEqual([]);
  });
});

describe('what is left behind', () => {
  it('daemons, twice forked and in sessions of their own, are dead when the run ends', async () => {
    const mark = newMark();
    const { ended } = await bench.shell(
      `for i in 1 2 3; do (setsid sh -c 'sleep ${mark} & setsid sleep ${mark} &' &); done; sleep 0.1`,
    );
    expect({ ended, alive: sleepers(mark) }).toEqual({ ended: 'exited', alive: [] });
  });

  it('a gateway that is killed takes every program along', async () => {
    const mark = newMark();
    const gateway = spawn(process.execPath, [FIXTURE, 'hold', '3', mark], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // What it cannot clean up goes with this test's own folder.
      env: { ...process.env, TMPDIR: bench.dir },
    });
    let ups = 0;
    gateway.stdout.on('data', (chunk) => (ups += String(chunk).split('up').length - 1));
    await eventually(() => ups >= 3 && sleepers(mark).length >= 12, 'all are up', 20_000);
    gateway.kill('SIGKILL');
    await expect.poll(() => sleepers(mark), { timeout: 10_000 }).toEqual([]);
  });

  it('no run leaves a zombie, where nobody else would bury it', () => {
    const asPidOne = [...(IS_ROOT ? [] : ['--map-current-user']), '-p', '-f', '--mount-proc'];
    const argv = [...asPidOne, process.execPath, FIXTURE, 'repeat', String(RUNS_AS_PID_1)];
    const { stdout, stderr } = spawnSync('unshare', argv, { encoding: 'utf8', timeout: 280_000 });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({ pid: 1, zombies: 0 });
  }, 300_000);

  it('an ephemeral workspace is empty for the next, a kept one is as it was left', async () => {
    const kept = keptAs('notes');
    await bench.shell('echo 1 > a; mkdir b');
    await bench.shell('echo 1 > a; mkdir b', { workspace: kept });
    expect(textOf(await bench.shell('ls -A . /tmp /dev/shm')).out).toBe('.:\n\n/dev/shm:\n\n/tmp:\n');
    expect(textOf(await bench.shell('ls -A', { workspace: kept })).out).toBe('a\nb\n');
    expect(textOf(await bench.shell('ls -A', { workspace: keptAs('other') })).out).toBe('');
  });

  it("the gateway's data folder stays its own", async () => {
    const own = new SandboxBench({}, 'data/workspaces');
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

describe('what is planted in a workspace', () => {
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
    expect(textOf(await bench.shell('test -L sub || cat sub/planted', { ...extras, files })).out).toBe('x');
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

describe.each(['bwrap-container', 'landlock'] as const)('the lower rung %s', (backend) => {
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
      `[tried(lambda p=p: write(p)) for p in ${JSON.stringify(paths)}] + [tried(lambda: os.truncate(${JSON.stringify(join(secrets, 'canary'))}, 0)), call("mount", b"x", b"/", b"tmpfs", 0, None)]`,
      {},
      lower,
    );
    for (const result of results as string[]) expect(result).toMatch(/^(EROFS|EACCES|ENOENT|EPERM)$/);
    expect(readFileSync(join(secrets, 'canary'), 'utf8')).toBe('CANARY-4711');
  });

  it('has no sockets, no tracing, no namespaces, and signals nobody outside', async () => {
    const result = await pythonJson(
      `[call("socket", 2, 1, 0), call("socket", 40, 1, 0), call("ptrace", 16, ${process.pid}, 0, 0), call("unshare", 0x10000000), tried(lambda: os.kill(${process.pid}, 9)), call("io_uring_setup", 1, None)]`,
      {},
      lower,
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
