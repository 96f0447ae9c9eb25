// Python tools written by an attacker, and arguments sent by one: what they reach, and what they leave behind.
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { release } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';
import type { PreparedFunction } from '../../src/contract/plugin.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { eventually } from '../helpers/eventually.ts';
import { confiningSpawner } from '../helpers/confining-spawner.ts';
import { callOf, isAlive, PythonBench, targetOf, type CallExtras } from '../helpers/python-ports.ts';
import { RUNGS } from '../helpers/rungs.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const bare = confiningSpawner();
afterAll(() => bare.closeAll());

const failureOf = (promise: Promise<unknown>): Promise<ToolFailure> =>
  promise.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => {
      if (error instanceof ToolFailure) return error;
      throw error;
    },
  );

const [major = 0, minor = 0] = release().split('.').map(Number);
const KEEPS_SIGNALS = major > 6 || (major === 6 && minor >= 12);

const LIMIT_MS = 600;
/** A call that the gateway gives up after a while, as the core does at its deadline. */
function limited(ms = LIMIT_MS): CallExtras {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new ToolFailure('TIMEOUT', 'too slow')), ms);
  return { signal: controller.signal, call: { deadline: Date.now() + ms } };
}

const of = (tenantId: string): CallExtras => ({
  call: { principal: { id: 'key', tenantId, agents: ['*'], roles: [], permissions: new Set() } },
});

const PROTOCOL = { type: 'INTERNAL', reason: 'WORKER_PROTOCOL_VIOLATION' };
const DIED = { type: 'UNAVAILABLE', reason: 'WORKER_DIED' };
const answer = (data: unknown) => JSON.stringify({ ok: true, data });

/** One worker for every case, with a neighbour's call in it: no attack may reach either. */
const MODES: readonly (readonly [string, (typeof RUNGS)[number][1] | undefined])[] = [
  ['without a sandbox', undefined],
  ...RUNGS,
];

describe.each(MODES)('a tool: %s', (name, settings) => {
  const isConfined = settings !== undefined;
  const isBlind = name === 'landlock';
  const sandbox = isConfined ? 'required' : 'off';
  const spawner = isConfined ? confiningSpawner({ settings }) : bare;
  afterAll(() => spawner.closeAll());
  let bench: PythonBench;
  let worker: () => Promise<unknown>;
  beforeAll(async () => {
    bench = new PythonBench(spawner, { workers: 1, sandbox, maxFrameBytes: 1 << 20 });
    const parent = await bench.callable('hostile.parent');
    worker = () => parent();
  });
  afterAll(() => bench.executor.close?.());

  const restarts = () =>
    [...bench.metrics.values].filter(
      ([series]) => series.includes('restarts') && !series.includes('recycled'),
    );

  /** Runs the attack beside a neighbour; both workers and neighbours must be unharmed. */
  async function attack(name: string, args: JsonObject = {}, extra?: CallExtras): Promise<unknown> {
    const before = await worker();
    const neighbour = bench.call('good.sleep', { seconds: 0.3 });
    const [outcome] = await Promise.allSettled([bench.call(`hostile.${name}`, args, extra)]);
    expect(await neighbour).toBeGreaterThan(0);
    expect(await worker()).toBe(before);
    expect(restarts()).toEqual([]);
    if (outcome.status === 'fulfilled') return outcome.value;
    throw outcome.reason;
  }

  it('forged frames on stdout, stderr and every other descriptor are never an answer', async () => {
    expect(await attack('write_everywhere', { text: answer('forged') })).toBe('right');
  });

  it('an answer forged with an id of its own is no answer to anybody else', async () => {
    const forged = { kind: 'A'.repeat(22), text: `a${answer('forged')}` };
    expect(await failureOf(attack('send_frame', forged))).toMatchObject(PROTOCOL);
  });

  it('of several answers sent at once only the first counts, and for this call alone', async () => {
    const texts = [answer('first'), answer('second'), answer('third')];
    expect(await attack('send_answers', { texts })).toBe('first');
  });

  it.each([
    ['an unknown kind', 'send_frame', { kind: 'x', text: '{}' }, PROTOCOL],
    [
      'an end that only the zygote may tell',
      'send_frame',
      { kind: 'd', text: '{"reason":"timeout","detail":""}' },
      PROTOCOL,
    ],
    ['an answer that is no JSON', 'send_frame', { kind: 'a', text: '{"ok":' }, PROTOCOL],
    ['an answer with NaN', 'send_frame', { kind: 'a', text: '{"ok":true,"data":NaN}' }, PROTOCOL],
    ['progress that is none', 'send_frame', { kind: 'p', text: '{"fraction":"all"}' }, PROTOCOL],
    ['an empty frame', 'send_raw', { text: '\0\0\0\0' }, PROTOCOL],
    ['a frame of 4 GiB', 'send_raw', { text: '\xff\xff\xff\xff' }, { type: 'OUTPUT_TOO_LARGE' }],
  ])('%s on the way to answer ends this call alone', async (_what, name, args, failure) => {
    expect(await failureOf(attack(name, args))).toMatchObject(failure);
  });

  it('a hundred thousand brackets end this call alone', async () => {
    expect(await failureOf(attack('json_bomb'))).toMatchObject(PROTOCOL);
  });

  it('partial results and progress without end are cut off', async () => {
    const partial = { kind: 'y', text: JSON.stringify('x'.repeat(60_000)) };
    expect(await failureOf(attack('send_forever', partial))).toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
    expect(await failureOf(attack('send_forever', { kind: 'p', text: '{}' }))).toMatchObject(PROTOCOL);
    expect(await failureOf(attack('yield_forever'))).toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
  });

  it('a tool finds no descriptor of the gateway, only its own way to answer', async () => {
    expect(await attack('pipes')).toHaveLength(1);
  });

  it('output without end is cut off', async () => {
    const failure = await failureOf(bench.call('bad.print_forever'));
    expect(failure).toMatchObject({ type: 'OUTPUT_TOO_LARGE', reason: 'LOG_FLOOD' });
    expect(restarts()).toEqual([]);
  });

  it.each(['bad.spin', 'bad.spin_in_c', 'hostile.stop_self'])(
    '%s ends on time and takes no neighbour with it',
    async (name) => {
      const before = await worker();
      const neighbour = bench.call('good.sleep', { seconds: LIMIT_MS / 1000 + 0.5 });
      expect(await failureOf(bench.call(name, {}, limited()))).toMatchObject({ type: 'TIMEOUT' });
      expect(await neighbour).toBeGreaterThan(0);
      expect(await worker()).toBe(before);
      expect(restarts()).toEqual([]);
    },
  );

  it('an endless call ends by the worker alone when the gateway forgets to say so', async () => {
    const call = { deadline: Date.now() + LIMIT_MS };
    expect(await failureOf(bench.call('bad.spin', {}, { call }))).toMatchObject({ type: 'TIMEOUT' });
  });

  it('memory without end is a MemoryError of this call', async () => {
    expect(String((await failureOf(attack('memory_bomb'))).cause)).toMatch(/MemoryError/);
  });

  it.each([0, 7])('os._exit(%i) is no answer', async (code) => {
    expect(await failureOf(attack('exit_with', { code }))).toMatchObject(DIED);
  });

  it('closing every descriptor ends this call alone', async () => {
    expect(await failureOf(attack('close_everything'))).toMatchObject(DIED);
  });

  it.each([
    ['a huge result', 'huge', { megabytes: 2 }, { type: 'OUTPUT_TOO_LARGE' }],
    ['a result nested too deep', 'deep', { depth: 65 }, { type: 'OUTPUT_INVALID', reason: 'TOO_DEEP' }],
    ['a result nested beyond any stack', 'deep', { depth: 200_000 }, { type: 'OUTPUT_INVALID' }],
    ['NaN', 'not_a_number', { kind: 'nan' }, { type: 'OUTPUT_INVALID', reason: 'NOT_JSON' }],
    ['infinity', 'not_a_number', { kind: '-inf' }, { type: 'OUTPUT_INVALID', reason: 'NOT_JSON' }],
  ])('%s is a typed error', async (_what, name, args, failure) => {
    expect(await failureOf(attack(name, args))).toMatchObject(failure);
  });

  it('argument names that are Python keywords or dunders are values, never code', async () => {
    const odd = { class: 1, lambda: 2, None: 3, __class__: 4, self: 5, 'a b': 6, '__import__("os")': 7 };
    expect(await attack('anything', odd)).toEqual(odd);
    expect(await failureOf(attack('exactly', { value: 1, lambda: 2 }))).toMatchObject({
      reason: 'ARGUMENT_MISMATCH',
    });
  });

  it('nothing of the gateway is in the environment', async () => {
    process.env['UTE_TEST_SECRET'] = 'environment-secret';
    const seen = (await bench.call('hostile.environment')) as JsonObject;
    expect(JSON.stringify(seen)).not.toMatch(/environment-secret|UTE_|NODE_|VITEST/);
    expect(seen['HOME']).not.toBe(process.env['HOME'] ?? '');
  });

  it('what a call leaves in memory is not there for the next', async () => {
    const remember = await bench.callable('hostile.remember');
    expect(await remember({ secret: 'one' })).toBe(1);
    expect(await remember({ secret: 'two' })).toBe(1);
  });

  it('the arguments of earlier calls are nowhere in the memory of a later one', async () => {
    const parts = ['tenant-secret', String(process.pid), '-4711'];
    const secret = parts.join('');
    // Under landlock there is no /proc to learn from where its own memory is: it finds nothing at all.
    const search = isBlind ? 'hostile.cannot_search' : 'hostile.search_own_memory';
    const foundAfterCalls = async (options: { pure?: boolean }) => {
      const exactly = await bench.callable('hostile.exactly', { options });
      for (const size of [0, 100, 10_000, 300_000]) await exactly({ value: secret + 'x'.repeat(size) });
      const found = await bench.callable(search, { options });
      return found({ parts });
    };
    expect(await foundAfterCalls({})).toBe(0);
    // The search does find what is there.
    expect(Number(await foundAfterCalls({ pure: true })) > 0).toBe(!isBlind);
  });

  it('a daemon that left its parent, its group and its session is gone with the answer', async () => {
    const [outcome] = await Promise.allSettled([bench.call('hostile.daemonise')]);
    // Under landlock it cannot even leave the group.
    expect(outcome.status).toBe(isBlind ? 'rejected' : 'fulfilled');
    const pid = outcome.status === 'fulfilled' ? Number(outcome.value) : Number.NaN;
    // Inside the sandbox pids have a meaning of their own.
    const isThere = async () => {
      if (!isConfined) return isAlive(pid);
      return ((await bench.call('hostile.processes')) as number[]).includes(pid);
    };
    expect(!isBlind && (await isThere())).toBe(false);
  });

  it('a module that is not on the list is not there, for a tool and for its code', async () => {
    const own = new PythonBench(spawner, { workers: 1, sandbox, modules: ['hostile'] });
    await expect(own.prepare('good', 'echo')).rejects.toThrow(/`good` is not on the list/);
    const failure = await failureOf(own.call('hostile.import_module', { name: 'good' }));
    expect(String(failure.cause)).toMatch(/ImportError|ModuleNotFoundError/);
    expect(await own.call('hostile.import_module', { name: 'decimal' })).toContain('decimal');
    await own.executor.close?.();
  });
});

const isRoot = process.getuid?.() === 0;
/** Landlock has no namespace: the kernel counts for the user, of whom nobody else is where the gateway is root. */
const USER_OF_ITS_OWN = isRoot ? { uid: 66_000, gid: 66_000 } : {};
/** Fewer than it asks for; and where others of the user come and go, as many more as there were of them. */
const MOST_OF_A_BOMB = { bubblewrap: 20, landlock: isRoot ? 40 : 500 };

describe.each(RUNGS)('the sandbox: %s', (rung, settings) => {
  const spawner = confiningSpawner({ settings });
  afterAll(() => spawner.closeAll());
  let bench: PythonBench;
  /** Where a tool may write, and what it finds there. */
  let tmp: string;
  beforeAll(async () => {
    bench = new PythonBench(spawner, { workers: 1, sandbox: 'required' });
    tmp = String(await bench.call('hostile.temporary_folder'));
  });
  afterAll(() => bench.executor.close?.());

  it('holds a fork bomb: it stops at its limit, and is gone when its time is over', async () => {
    const alone = confiningSpawner({ settings: { ...settings, ...USER_OF_ITS_OWN } });
    const small = new PythonBench(alone, { workers: 1, sandbox: 'required', maxProcesses: 20 });
    const processes = await small.callable('hostile.how_many_may_start');
    const bomb = await small.callable('hostile.fork_bomb');
    const running = failureOf(bomb({ processes: 500 }, limited(1500)));
    // There is still room for the neighbours.
    expect(await small.call('good.echo', { value: 'in between' })).toBe('in between');
    expect(await running).toMatchObject({ type: 'TIMEOUT' });
    await expect.poll(() => processes(), { timeout: 20_000 }).toBeGreaterThan(0);
    const [printed] = small.log.lines.filter(({ fields }) => fields['tool'] === 'hostile.fork_bomb');
    expect(Number(printed?.fields['output'])).toBeLessThan(MOST_OF_A_BOMB[rung]);
    await small.executor.close?.();
    await alone.closeAll();
  });

  it("keeps the zygote's memory, environment and descriptors from its children", async () => {
    expect(await bench.call('hostile.parents_memory')).toEqual({
      mem: 'PermissionError',
      environ: 'PermissionError',
      maps: 'PermissionError',
      fd: 'PermissionError',
      ptrace: 'refused',
    });
  });

  it('keeps the limits where they are', async () => {
    expect(await bench.call('hostile.raise_limits')).not.toContain('RLIMIT_AS');
  });

  it('holds no file of a module that is not on the list', async () => {
    const own = new PythonBench(spawner, { workers: 1, sandbox: 'required', modules: ['hostile'] });
    const there = await own.callable('hostile.can_read');
    const folder = join(import.meta.dirname, '../fixtures/python');
    expect(await there({ path: `${folder}/hostile.py` })).toBe(true);
    expect(await there({ path: `${folder}/good.py` })).toBe(false);
    await own.executor.close?.();
  });

  it.each(['kill_parent', 'interrupt_parent', 'kill_everybody', 'kill_neighbours'])(
    '%s: the worker lives on',
    async (name) => {
      const parent = await bench.callable('hostile.parent');
      const before = await parent();
      const neighbour = bench.call('good.sleep', { seconds: 0.5 });
      const [outcome] = await Promise.allSettled([neighbour, bench.call(`hostile.${name}`)]);
      // Calls of one tenant that run beside each other share a namespace of pids; Landlock parts them, in newer kernels.
      expect((rung === 'bubblewrap' && !KEEPS_SIGNALS) || outcome.status === 'fulfilled').toBe(true);
      expect(await parent()).toBe(before);
      expect(bench.metrics.value('ute_executor_worker_restarts_total{python,died}')).toBe(0);
    },
  );

  const places = rung === 'landlock' ? ['tmp'] : ['tmp', '/dev/shm'];
  it.each(places)('empties %s between calls', async (place) => {
    const path = `${place === 'tmp' ? tmp : place}/left`;
    expect(await bench.call('hostile.write_file', { path, text: 'x' })).toBe(true);
    expect(await bench.call('hostile.exists', { path })).toBe(false);
  });

  it('leaves alone what the host lends below the folders that it empties', async () => {
    const dir = tempDir();
    chmodSync(dir, 0o777);
    writeFileSync(join(dir, 'kept'), "the operator's", { mode: 0o666 });
    const lent = new PythonBench(spawner, { sandbox: 'required', writable: [dir] });
    for (const name of ['one', 'two']) {
      expect(await lent.call('hostile.write_file', { path: join(dir, name), text: 'x' })).toBe(true);
      expect(await lent.call('hostile.write_temporary', { name: 'left', text: 'x' })).toBe(true);
    }
    expect(await lent.call('hostile.temporary_files')).not.toContain('left');
    expect(readdirSync(dir).toSorted()).toEqual(['kept', 'one', 'two']);
    expect(lent.metrics.value('ute_executor_worker_restarts_total{python,died}')).toBe(0);
    await lent.executor.close?.();
    removeDir(dir);
  });

  it('never runs calls of two tenants in one worker at a time', async () => {
    const path = `${tmp}/of-acme`;
    const [hold, canRead] = [await bench.callable('hostile.hold'), await bench.callable('hostile.can_read')];
    const acme = hold({ path, text: 'secret', seconds: 3 }, of('acme'));
    const here = { timeout: 20_000, interval: 20 };
    await expect.poll(() => canRead({ path }, of('acme')), here).toBe(true);
    expect(await canRead({ path }, of('umbrella'))).toBe(false);
    await acme;
  });

  it('shows nothing of the machine and writes nowhere', async () => {
    const dir = tempDir();
    chmodSync(dir, 0o777);
    writeFileSync(join(dir, 'secret'), 'secret', { mode: 0o644 });
    for (const path of [join(dir, 'secret'), '/etc/passwd', '/etc/shadow', '/root', '/var/log']) {
      expect([path, await bench.call('hostile.can_read', { path })]).toEqual([path, false]);
    }
    const folder = join(import.meta.dirname, '../fixtures/python');
    for (const path of [`${folder}/planted.py`, '/usr/planted', '/planted', '/dev/planted']) {
      const failure = await failureOf(bench.call('hostile.write_file', { path, text: 'x' }));
      expect(String(failure.cause)).toMatch(/OSError: \[Errno 30\]|PermissionError|Read-only/);
    }
    removeDir(dir);
  });

  it('reaches no network, the loopback of the machine included', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    const { port } = server.address() as AddressInfo;
    const failure = await failureOf(bench.call('hostile.connect', { host: '127.0.0.1', port }));
    expect(String(failure.cause)).toMatch(/Error/);
    await new Promise((done) => server.close(done));
  });
});

describe.each(RUNGS)('code from the caller: %s', (rung, settings) => {
  const spawner = confiningSpawner({ settings });
  afterAll(() => spawner.closeAll());
  const inputSchema = {
    type: 'object',
    properties: { code: { type: 'string' }, files: { type: 'object' } },
    required: ['code'],
  };
  let bench: PythonBench;
  let run: (code: string, files?: JsonObject, extra?: CallExtras) => Promise<JsonObject>;
  let tool: PreparedFunction;
  beforeAll(async () => {
    bench = new PythonBench(spawner, { workers: 1, sandbox: 'required', maxProcesses: 20 });
    tool = await bench.executor.prepare(targetOf({ code: true }, { inputSchema, isDangerous: true }));
    run = async (code, files, extra) => {
      const call = callOf({ code, ...(files && { files }) }, extra);
      return (await tool.execute(call, () => undefined)).data as JsonObject;
    };
  });
  afterAll(() => bench.executor.close?.());

  it('is loaded only where it is said to be dangerous, and where the sandbox is not off', async () => {
    const prepare = (sandbox: 'off' | 'required', isDangerous: boolean) =>
      new PythonBench(spawner, { sandbox }).executor.prepare(
        targetOf({ code: true }, { inputSchema, isDangerous }),
      );
    await expect(prepare('required', false)).rejects.toThrow(/is_dangerous/);
    await expect(prepare('off', true)).rejects.toThrow(/sandbox is off/);
  });

  it('answers with what it printed, its last value and the files it wrote', async () => {
    const code = [
      'import sys, csv',
      'rows = list(csv.reader(open("in/data.csv")))',
      'print("rows:", len(rows)); print("careful", file=sys.stderr)',
      'open("out.txt", "w").write("done"); open("raw.bin", "wb").write(bytes([255, 0]))',
      '{"sum": sum(int(row[0]) for row in rows)}',
    ].join('\n');
    expect(await run(code, { 'in/data.csv': '1\n2\n' })).toEqual({
      stdout: 'rows: 2\n',
      stderr: 'careful\n',
      output_truncated: false,
      result: { sum: 3 },
      error: null,
      files: { 'out.txt': 'done', 'raw.bin': { base64: '/wA=' } },
      images: [],
      files_left_out: 0,
    });
    expect(await run('{1, 2}')).toMatchObject({ result: '{1, 2}', error: null });
    expect(await run('x = 1')).toMatchObject({ result: null, error: null });
  });

  it('that fails is an answer, with its own lines in the traceback and none of ours', async () => {
    const failed = await run('def f():\n    return 1 / 0\nf()');
    expect(failed).toMatchObject({ error: 'ZeroDivisionError: division by zero', result: null });
    expect(failed['stderr']).toContain('File "<code>", line 2, in f');
    expect(failed['stderr']).not.toContain('unified_tools');
    expect(await run('def')).toMatchObject({ error: expect.stringContaining('SyntaxError') });
    expect(await run('import sys; sys.exit(3)')).toMatchObject({ error: 'SystemExit: 3' });
  });

  it('without end is a TIMEOUT', async () => {
    expect(await failureOf(run('while True: pass', undefined, limited()))).toMatchObject({ type: 'TIMEOUT' });
  });

  it('finds nothing of an earlier run: no file, no variable, no process', async () => {
    await run('import os\nkept = 1\nopen("../kept", "w").write("x")\nopen("kept", "w").write("x")');
    const found = await run('import os\n["kept" in os.listdir(".."), "kept" in globals(), os.listdir(".")]');
    expect(found['result']).toEqual([false, false, []]);
  });

  it('takes files that are no text, and refuses what is no file', async () => {
    const sum = 'sum(open("in.bin", "rb").read())';
    expect(await run(sum, { 'in.bin': { base64: '/wAB' } })).toMatchObject({ result: 256, files: {} });
    const wrongOnes: JsonValue[] = [
      { base64: 'a' },
      { base64: '????' },
      { base64: 'AAAA', mode: 7 },
      {},
      7,
      ['x'],
    ];
    for (const wrong of wrongOnes)
      expect(await failureOf(run('1', { a: wrong }))).toMatchObject({ type: 'VALIDATION' });
  });

  it('what it draws comes back as images, and a picture too large to be unfolded as a file', async () => {
    const png = [
      'import struct, zlib',
      'def png(width, height):',
      '    part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))',
      '    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)',
      '    rows = zlib.compress((b"\\0" + bytes(-(-width // 8))) * height, 9)',
      '    return b"\\x89PNG\\r\\n\\x1a\\n" + part(b"IHDR", head) + part(b"IDAT", rows) + part(b"IEND", b"")',
    ];
    const drawn = await run([...png, 'open("plots.png", "wb").write(png(20, 10)); None'].join('\n'));
    expect(drawn).toMatchObject({
      files: {},
      images: [
        {
          name: 'plots.png',
          content_type: 'image/png',
          width: 20,
          height: 10,
          base64: expect.stringMatching(/^iVBOR/),
        },
      ],
    });
    const huge = await run([...png, 'open("huge.png", "wb").write(png(10_000, 10_000)); None'].join('\n'));
    expect(huge).toMatchObject({ images: [], files: { 'huge.png': { base64: expect.any(String) } } });
  });

  it('keeps variables, imports and definitions for the same session of the same user, where that is asked for', async () => {
    const bo = { call: { context: { sessionId: 's1', userId: 'bo' } } };
    const keep = async (code: string, extra: CallExtras = bo) => {
      const call = callOf({ code, keep_state: true }, extra);
      return (await tool.execute(call, () => undefined)).data as JsonObject;
    };
    const first = await keep(
      'import math\nclass Point:\n    def __init__(self, x): self.x = x\ndef twice(x): return 2 * x\n' +
        'rows = [Point(1), Point(2)]\nhandle = open("f", "w")\nrows[1].x',
    );
    expect(first).toMatchObject({ result: 2, state: { restored: false, kept: true, left_out: ['handle'] } });
    expect(await keep('twice(sum(p.x for p in rows)) + math.floor(1.5)')).toMatchObject({
      result: 7,
      state: { restored: true, kept: true },
    });
    for (const other of [
      { sessionId: 's2', userId: 'bo' },
      { sessionId: 's1', userId: 'cy' },
      { sessionId: 's1' },
    ])
      expect(await keep('"rows" in globals()', { call: { context: other } })).toMatchObject({
        result: false,
      });
    expect(await run('"rows" in globals()', undefined, bo)).toMatchObject({ result: false });
    expect(await failureOf(keep('1', {}))).toMatchObject({ type: 'VALIDATION' });
    const large = await keep('big = "x" * (2 << 20)\nsmall = 1');
    expect(large).toMatchObject({ state: { kept: true, left_out: ['big'] } });
    expect(await keep('[small, "big" in globals()]')).toMatchObject({ result: [1, false] });
  });

  it('a module that is not there is told with the packages that are', async () => {
    expect(await run('import numpyy')).toMatchObject({
      error: expect.stringMatching(
        /^ModuleNotFoundError: No module named 'numpyy' \(packages besides the standard library: /,
      ),
    });
  });

  it('a symlink among its files leads nowhere', async () => {
    const { files } = await run(
      'import os\nos.symlink("/proc/self/environ", "link")\nopen("real", "w").write("r")',
    );
    expect(files).toEqual({ real: 'r' });
  });

  it('more files, and larger ones, than an answer holds are left out and counted', async () => {
    const many = await run('for i in range(40): open(f"f{i:02}", "w").write("x")');
    expect(Object.keys(many['files'] as JsonObject)).toHaveLength(32);
    expect(many['files_left_out']).toBe(8);
    const large = await run('open("large", "w").write("x" * (2 << 20))');
    expect(large).toMatchObject({ files: {}, files_left_out: 1 });
  });

  it.each(['../up', '/etc/x', 'a/../../b', '..', 'a//b', '', 'a\0b', 'a\nb', './x'])(
    'the file name %j is refused before anything runs',
    async (name) => {
      expect(await failureOf(run('1', { [name]: 'x' }))).toMatchObject({
        type: 'VALIDATION',
        partialSideEffects: false,
      });
    },
  );

  it('has no network and sees no file of the machine', async () => {
    expect(await run('import socket\nsocket.create_connection(("127.0.0.1", 80), 1)')).toMatchObject({
      error: expect.stringMatching(/Error/),
    });
    expect(
      await run(
        [
          'import os',
          'def can_read(path):',
          '    try: return bool(os.listdir(path) if os.path.isdir(path) else open(path).read())',
          '    except OSError: return False',
          '[can_read(path) for path in ("/etc/passwd", "/etc", "/root", "/home")]',
        ].join('\n'),
      ),
    ).toMatchObject({ result: [false, rung === 'bubblewrap', false, false] });
  });
});

describe('a module file that changes after it was loaded', () => {
  const source = (body: string) => `def answer():\n    return ${body}\n`;
  let dir: string;
  const write = (body: string) => writeFileSync(join(dir, 'changing.py'), body, { mode: 0o644 });
  beforeAll(() => {
    dir = tempDir();
    chmodSync(dir, 0o755);
    mkdirSync(join(dir, 'unused'));
  });
  afterAll(() => removeDir(dir));

  async function changed(whenChanged: 'reload' | 'refuse', body: string) {
    write(source('"before"'));
    const bench = new PythonBench(bare, { workers: 1, modulePaths: [dir], whenChanged });
    const prepare = () => bench.prepare('changing', 'answer', { baseDir: dir });
    const tool = await prepare();
    const call = async () => (await tool.execute(callOf({}), () => undefined)).data;
    expect(await call()).toBe('before');
    write(body);
    return { bench, call, prepare };
  }

  const until = async (call: () => Promise<unknown>, done: (value: unknown) => boolean) => {
    let value: unknown;
    await eventually(async () => done((value = await call().catch((error: unknown) => error))), 'the change');
    return value;
  };

  it('is imported anew, and no call fails meanwhile', async () => {
    const { bench, call } = await changed('reload', source('"after"'));
    expect(await until(call, (value) => value !== 'before')).toBe('after');
    expect(bench.metrics.value('ute_executor_worker_restarts_total{python,recycled}')).toBe(1);
    expect(bench.log.lines).toContainEqual(
      expect.objectContaining({
        fields: expect.objectContaining({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }),
      }),
    );
    await bench.executor.close?.();
  });

  it('in a way that does not fit the tool any more, is refused', async () => {
    const { bench, call } = await changed('reload', 'def another():\n    pass\n');
    expect(await until(call, (value) => value !== 'before')).toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'TOOL_DEFINITION_CHANGED',
      retryable: false,
    });
    await bench.executor.close?.();
  });

  it('is refused where the operator wants that, until the tool is loaded again', async () => {
    const { bench, call, prepare } = await changed('refuse', source('"planted"'));
    expect(await until(call, (value) => value !== 'before')).toMatchObject({
      reason: 'TOOL_DEFINITION_CHANGED',
    });
    const again = await prepare();
    expect((await again.execute(callOf({}), () => undefined)).data).toBe('planted');
    expect(await failureOf(call())).toMatchObject({ reason: 'TOOL_DEFINITION_CHANGED' });
    await bench.executor.close?.();
  });
});
