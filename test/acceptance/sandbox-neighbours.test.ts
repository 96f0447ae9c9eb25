// The sandbox against who wants a hand on other processes of its user, on both rungs: runs, and processes that stay.
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_DEFAULTS } from '../../src/lib/sandbox-settings.ts';
import { BUBBLEWRAP, RUNGS } from '../helpers/rungs.ts';
import { MIB, SandboxBench, textOf } from '../helpers/sandbox.ts';
import { SYSCALL_PRELUDE } from '../helpers/syscall-prelude.ts';
import { removeDir } from '../helpers/temp-tools.ts';

const IS_ROOT = process.getuid?.() === 0;
/** Whom the sandbox runs as, and so its neighbours. */
const NEIGHBOUR = IS_ROOT ? { uid: SANDBOX_DEFAULTS.uid, gid: SANDBOX_DEFAULTS.gid } : {};

/** What nobody else may change of a process: its limits, niceness and scheduling. */
const stateOf = ({ pid }: ChildProcess) => ({
  limits: readFileSync(`/proc/${pid}/limits`, 'utf8'),
  // Behind the name: priority, nice; and real-time priority and policy.
  scheduling: readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ').slice(15, 17),
  cpus: /^Cpus_allowed:.*$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[0],
});

const IPC = `[
  call("shmget", 4711, 4096, 0o1666), call("shmget", 0, 4096, 0o1666), call("shmat", 0, None, 0),
  call("shmctl", 0, 0, None), call("semget", 4711, 1, 0o1666), call("semop", 0, None, 0),
  call("semctl", 0, 0, 0, 0), call("msgget", 4711, 0o1666), call("msgsnd", 0, None, 0, 0),
  call("msgrcv", 0, None, 0, 0, 0), call("msgctl", 0, 0, None),
  call("mq_open", b"ute", 0o102, 0o666, None), call("mq_unlink", b"ute"),
]`;
const ALL_REFUSED = Array.from({ length: 13 }, () => 'EPERM');

describe.each(RUNGS)('on the rung %s', (rung, settings) => {
  let bench: SandboxBench;
  let neighbour: ChildProcess;
  let folder: string;

  beforeAll(() => {
    bench = new SandboxBench(settings);
    neighbour = spawn('/bin/sleep', ['600'], { stdio: 'ignore', ...NEIGHBOUR });
    folder = mkdtempSync(join(tmpdir(), 'ute-neighbour-'));
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'own'), { mode: 0o755 });
    writeFileSync(join(folder, 'own/file'), 'x', { mode: 0o644 });
    const { uid, gid } = NEIGHBOUR;
    if (uid !== undefined) for (const path of ['own', 'own/file']) chownSync(join(folder, path), uid, gid);
  });
  afterAll(async () => {
    neighbour.kill('SIGKILL');
    await bench.close();
    removeDir(folder);
  });

  async function pythonJson(expression: string): Promise<unknown> {
    const { out, err } = textOf(
      await bench.python(`${SYSCALL_PRELUDE}print(json.dumps(${expression}))`, { readable: [folder] }),
    );
    expect(err).toBe('');
    return JSON.parse(out);
  }

  /** In a process that stays, as Python workers and MCP servers do. */
  async function stayingJson(expression: string): Promise<unknown> {
    const child = await bench.spawner.spawn({
      argv: ['/usr/bin/python3', '-I', '-S', '-c', `${SYSCALL_PRELUDE}print(json.dumps(${expression}))`],
      cwd: '/',
      env: {},
      channel: false,
      confinement: { readable: [], network: 'none', memoryBytes: 512 * MIB, maxProcesses: 16 },
    });
    let out = '';
    let err = '';
    child.stderr.on('data', (chunk) => (err += String(chunk)));
    for await (const chunk of child.stdout) out += String(chunk);
    await child.exited;
    expect(err).toBe('');
    return JSON.parse(out);
  }

  it('nobody sets limits, priority or scheduling of another process, of a group or of a user', async () => {
    const before = stateOf(neighbour);
    const { pid } = neighbour;
    const attack = `(lambda limit, zero, mask: [
      call("prlimit64", ${pid}, 7, limit, None), call("prlimit64", ${pid}, 0, limit, None),
      call("prlimit64", os.getpid(), 7, limit, None),
      call("setpriority", 0, ${pid}, 19), call("setpriority", 1, 0, 19), call("setpriority", 2, 0, 19),
      call("ioprio_set", 1, ${pid}, 3 << 13), call("ioprio_set", 2, 0, 3 << 13), call("ioprio_set", 3, 0, 3 << 13),
      call("sched_setscheduler", ${pid}, 5, zero), call("sched_setparam", ${pid}, zero),
      call("sched_setattr", ${pid}, zero, 0), call("sched_setaffinity", ${pid}, 8, mask),
    ])(ctypes.create_string_buffer(16), ctypes.create_string_buffer(64), ctypes.create_string_buffer(b"\\1", 8))`;
    expect(await pythonJson(attack)).toEqual(Array.from({ length: 13 }, () => 'EPERM'));
    expect(await stayingJson(attack)).toEqual(Array.from({ length: 13 }, () => 'EPERM'));
    expect(stateOf(neighbour)).toEqual(before);
  });

  it('a process still lowers its own limits and priority', async () => {
    const own = `(__import__("resource").setrlimit(7, (20, 20)), -os.nice(0) + os.nice(3), tried(lambda: os.sched_setaffinity(0, os.sched_getaffinity(0))))[1:]`;
    expect(await pythonJson(own)).toEqual([3, null]);
  });

  it('no shared memory, semaphore or message queue of the machine is made or found', async () => {
    expect(await pythonJson(IPC)).toEqual(ALL_REFUSED);
    expect(await stayingJson(IPC)).toEqual(ALL_REFUSED);
    // Database servers of the machine come and go with segments of their own.
    const segments = readFileSync('/proc/sysvipc/shm', 'utf8').split('\n').slice(1);
    expect(segments.filter((line) => /^ +(?:4711 .*|0 +\d+ +\d+ +4096 )/.test(line))).toEqual([]);
  });

  it('nobody has the kernel signal a neighbour in its name', async () => {
    const attack = `(lambda f, ends: [
      tried(lambda: f.fcntl(ends[0], 10, 9)), tried(lambda: f.fcntl(ends[0], 8, ${neighbour.pid})),
      tried(lambda: f.fcntl(ends[0], 4, f.fcntl(ends[0], 3) | os.O_ASYNC)) and 0, os.write(ends[1], b"x"),
    ])(__import__("fcntl"), os.pipe())`;
    const [signal, owner] = (await pythonJson(attack)) as unknown[];
    expect([signal, owner]).toEqual(rung === 'landlock' ? ['EPERM', 'EPERM'] : [0, 'ESRCH']);
    expect(await pythonJson(`[tried(lambda: os.kill(${neighbour.pid}, 9))]`)).not.toEqual([null]);
    expect(neighbour).toMatchObject({ exitCode: null, signalCode: null });
  });

  it('files of its own user outside are not changed in mode, owner, times or attributes', async () => {
    const [own, file] = [join(folder, 'own'), join(folder, 'own/file')];
    const before = [statSync(own), statSync(file)].map(({ mode, mtimeMs, uid, gid }) => [
      mode,
      mtimeMs,
      uid,
      gid,
    ]);
    const attack = `(lambda fd: [
      *[tried(lambda p=p: os.chmod(p, 0)) for p in ${JSON.stringify([own, file])}],
      tried(lambda: os.fchmod(fd, 0)), tried(lambda: os.utime(${JSON.stringify(own)}, (1, 1))),
      tried(lambda: os.utime(fd, (1, 1))), tried(lambda: os.chown(fd, -1, os.getgid())),
      tried(lambda: os.setxattr(${JSON.stringify(file)}, "user.ute", b"x")),
    ])(os.open(${JSON.stringify(file)}, os.O_RDONLY))`;
    for (const result of (await pythonJson(attack)) as unknown[]) expect(result).toMatch(/^(EPERM|EROFS)$/);
    const after = [statSync(own), statSync(file)].map(({ mode, mtimeMs, uid, gid }) => [
      mode,
      mtimeMs,
      uid,
      gid,
    ]);
    expect(after).toEqual(before);
  });

  it('a datagram does not reach a socket of the host by way of a pair', async () => {
    const path = join(bench.dir, 'socket');
    const listener = spawn(
      '/usr/bin/python3',
      [
        '-c',
        `import socket; s = socket.socket(1, 2); s.bind("${path}"); print("up", flush=True); print(s.recv(9))`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    try {
      let heard = '';
      await new Promise<void>((resolve) =>
        listener.stdout.on('data', (chunk) => ((heard += String(chunk)), resolve())),
      );
      chmodSync(path, 0o777);
      const attack = `[tried(lambda: __import__("socket").socketpair(1, 2)[0].sendto(b"x", "${path}"))]`;
      expect(await pythonJson(attack)).toEqual([rung === 'landlock' ? 'EPERM' : 'ENOENT']);
      expect(heard).toBe('up\n');
    } finally {
      listener.kill('SIGKILL');
    }
  });

  it('what programs do every day still works', async () => {
    const script = `set -e; echo 1 > a; cp a b; mv b c; sed s/1/2/ c > d; mkdir -p e/f; touch e/f/g; sort a d | tail -1
      python3 -I -c 'import asyncio; asyncio.run(asyncio.sleep(0)); print("slept")'`;
    const { out, err } = textOf(await bench.shell(script));
    expect({ out, err }).toEqual({ out: '2\nslept\n', err: '' });
  });
});

describe.each(BUBBLEWRAP)("Python's own ways of sharing, on the rung %s alone", (_rung, settings) => {
  it('multiprocessing works, with its locks and queues', async () => {
    const bench = new SandboxBench(settings);
    try {
      const script = `
import multiprocessing
def work(lock, queue, number):
    with lock:
        queue.put(number * 2)
lock, queue = multiprocessing.Lock(), multiprocessing.Queue()
workers = [multiprocessing.Process(target=work, args=(lock, queue, n)) for n in (1, 2)]
for worker in workers: worker.start()
print(sorted(queue.get(timeout=15) for _ in workers))
for worker in workers: worker.join()`;
      expect(textOf(await bench.python(script))).toEqual({ out: '[2, 4]\n', err: '' });
    } finally {
      await bench.close();
    }
  });
});
