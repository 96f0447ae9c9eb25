// The python executor with real Python: what well-behaved tools get, and what hostile ones do not.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';
import type { CallEvent } from '../../src/contract/call/tool-call.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { NodeProcessSpawner } from '../../src/infra/process/node-process-spawner.ts';
import type { PythonSettings } from '../../src/executors/python/settings.ts';
import type { ProcessSpawner } from '../../src/ports/egress/process-spawner.ts';
import { callOf, FIXTURES, isAlive, PythonBench, realClock, targetOf } from '../helpers/python-ports.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { eventually } from '../helpers/eventually.ts';

const spawner = new NodeProcessSpawner();
afterAll(() => spawner.closeAll());

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

/** Tools marked pure: they run in the worker itself. */
const reusing = (processes: ProcessSpawner, settings: Partial<PythonSettings>) =>
  new PythonBench(processes, settings, realClock, { pure: true });

describe('calls', () => {
  const bench = new PythonBench(spawner);
  afterAll(() => bench.executor.close?.());

  it('passes arguments by name and brings the result back', async () => {
    const data = { text: 'ä€😀\u0000"\\', list: [1, 2.5, -0.001, null, true], nested: { a: { b: [] } } };
    expect(await bench.call('good.echo', { value: data })).toEqual(data);
    expect(await bench.call('good.nothing')).toBeNull();
    expect(await bench.call('good.optional', { a: 1, c: 9 })).toEqual([1, 2, 9]);
  });

  it('passes names that are no identifiers to functions that take anything', async () => {
    const odd = { 'not-an-identifier': 1, class: 2, '': 3 };
    expect(await bench.call('good.everything', odd)).toEqual(odd);
  });

  it('names an argument the function does not have, and one that is missing', async () => {
    const extra = await failureOf(bench.call('good.optional', { a: 1, surprise: 2 }));
    expect(extra).toMatchObject({
      type: 'PERMANENT',
      origin: 'tool',
      reason: 'ARGUMENT_MISMATCH',
      retryable: false,
    });
    expect(extra.message).toContain('`surprise`');
    expect((await failureOf(bench.call('good.optional'))).message).toContain('`a`');
  });

  it('runs asynchronous functions, all of a worker on one event loop', async () => {
    expect(await bench.call('good.sleep_async', { seconds: 0.01 })).toBe('slept');
    const failure = await failureOf(bench.call('good.fail_async'));
    expect(String(failure.cause)).toContain('LookupError: nothing there');
    const single = reusing(spawner, { workers: 1 });
    const loopId = await single.callable('good.loop_id');
    const first = await loopId();
    expect(await loopId()).toBe(first);
    await single.executor.close?.();
  });

  it('tells who is calling only to functions that ask, and lets no argument pretend', async () => {
    const call = {
      id: 'call-9',
      context: { sessionId: 's', agentId: 'a', tenantId: 't', mode: 'voice' as const },
      config: { calendar: 'work' },
      sensitiveConfig: { token: 'secret' },
    };
    expect(await bench.call('good.whoami', { value: 1 }, { call })).toEqual({
      value: 1,
      context: {
        call_id: 'call-9',
        session_id: 's',
        agent_id: 'a',
        user_id: null,
        tenant_id: 't',
        mode: 'voice',
        config: { calendar: 'work' },
        sensitive_config: { token: 'secret' },
      },
    });
    const forged = await failureOf(bench.call('good.whoami', { value: 1, context: { tenant_id: 'other' } }));
    expect(forged).toMatchObject({ reason: 'ARGUMENT_MISMATCH' });
  });

  it('an action calls the function of its name', async () => {
    const action = { name: 'list_items', description: 'Lists', parameters: [] };
    const prepared = await bench.executor.prepare(targetOf({ module: 'good' }, { action }));
    const result = await prepared.execute(callOf({ prefix: 'item-' }), () => undefined);
    expect(result.data).toEqual(['item-1']);
  });

  it('finds modules beside the file that declares the tool', async () => {
    const prepared = await bench.prepare('neighbour', 'greet', { baseDir: join(FIXTURES, 'beside') });
    expect((await prepared.execute(callOf({ name: 'you' }), () => undefined)).data).toBe('hello you');
    await prepared.close?.();
  });

  it('carries large arguments and results whole', async () => {
    const value = 'é'.repeat(1_000_000);
    expect((await bench.call('good.echo', { value })) === value).toBe(true);
  });

  it("gives tools nothing of the gateway's environment, and no input", async () => {
    process.env['UTE_TEST_SECRET'] = 'secret';
    const fresh = new PythonBench(spawner, { workers: 1 });
    const seen = JSON.stringify(await fresh.call('good.environment'));
    expect(seen).not.toMatch(/UTE_TEST_SECRET|PYTHONPATH|NODE_|VITEST/);
    expect(JSON.parse(seen)).toMatchObject({ stdin: '', cwd: '/' });
    await fresh.executor.close?.();
  });

  it('serves two slow calls at once', async () => {
    const sleep = await bench.callable('good.sleep');
    const pids = await Promise.all([sleep({ seconds: 1.5 }), sleep({ seconds: 1.5 })]);
    // One after the other, they would have got the same worker.
    expect(new Set(pids).size).toBe(2);
  });
});

describe('results in pieces', () => {
  const bench = new PythonBench(spawner);
  afterAll(() => bench.executor.close?.());

  const MODES = [
    ['in a process of its own', false],
    ['in the worker', true],
  ] as const;

  describe.each(MODES)('%s', (_name, pure) => {
    const collect = async (name: string, args: JsonObject) => {
      const events: CallEvent[] = [];
      const call = await bench.callable(`good.${name}`, { options: { pure } });
      const data = await call(args, { emit: (event) => void events.push(event) });
      return { data, events };
    };
    const partial = (data: JsonValue) => ({ kind: 'partial', data });

    it.each(['counts', 'counts_async'])(
      '%s: each yielded value, and all of them in the end',
      async (name) => {
        expect(await collect(name, { to: 3 })).toEqual({
          data: [0, 1, 2],
          events: [partial(0), partial(1), partial(2)],
        });
      },
    );

    it('what a generator returns is the result', async () => {
      expect(await collect('adds_up', { numbers: [1, 2] })).toEqual({
        data: 3,
        events: [partial({ so_far: 1 }), partial({ so_far: 3 })],
      });
    });

    it('context.progress says how far the work has come', async () => {
      expect(await collect('reports', { steps: 2 })).toEqual({
        data: 2,
        events: [
          { kind: 'progress', fraction: 0.5, message: 'step 1' },
          { kind: 'progress', fraction: 1, message: 'step 2' },
          { kind: 'progress', message: 'done' },
        ],
      });
    });
  });
});

describe('several calls in one worker', () => {
  it('forked calls run side by side, and what each prints is its own', async () => {
    const bench = new PythonBench(spawner, { workers: 1, callsPerWorker: 4 });
    const call = await bench.callable('good.prints_async');
    await call({ text: 'warm' });
    bench.log.lines.length = 0;
    const texts = ['a', 'b', 'c', 'd'];
    const meeting = tempDir();
    await Promise.all(texts.map((text) => call({ text, meeting, of: 4 }, { call: { id: text } })));
    removeDir(meeting);
    for (const text of texts) {
      const own = bench.log.lines.filter(({ fields }) => fields['callId'] === text);
      expect(own.map(({ fields }) => fields['output'])).toEqual([`${text} begins`, `${text} ends`]);
    }
    await bench.executor.close?.();
  });

  it('asynchronous functions marked pure share a worker and its event loop, and still print apart', async () => {
    const bench = reusing(spawner, { workers: 1, callsPerWorker: 4 });
    const [call, pid] = [await bench.callable('good.prints_async'), await bench.callable('good.pid_async')];
    const texts = ['a', 'b', 'c'];
    const meeting = tempDir();
    const calls = texts.map((text) => call({ text, meeting, of: 3 }, { call: { id: text } }));
    const pids = await Promise.all([pid(), ...calls.map((each) => each.then(() => pid()))]);
    removeDir(meeting);
    expect(new Set(pids).size).toBe(1);
    for (const text of texts) {
      const own = bench.log.lines.filter(({ fields }) => fields['callId'] === text);
      expect(own.map(({ fields }) => fields['output'])).toEqual([`${text} begins`, `${text} ends`]);
    }
    await bench.executor.close?.();
  });

  it('an asynchronous call that is given up is cancelled alone; one that blocks the loop takes the worker', async () => {
    const bench = reusing(spawner, { workers: 1, callsPerWorker: 4 });
    const [sleep, pid] = [await bench.callable('good.pid_async'), await bench.callable('good.pid_async')];
    const block = await bench.callable('good.block_the_loop');
    const before = await pid();
    const gone = new AbortController();
    const given = failureOf(sleep({ seconds: 30 }, { signal: gone.signal }));
    const neighbour = sleep({ seconds: 0.5 });
    gone.abort(new ToolFailure('CANCELLED', 'gone'));
    expect(await given).toMatchObject({ type: 'CANCELLED' });
    expect(await neighbour).toBe(before);
    const late = new AbortController();
    const blocked = failureOf(block({}, { signal: late.signal }));
    setTimeout(() => late.abort(new ToolFailure('TIMEOUT', 'late')), 50);
    expect(await blocked).toMatchObject({ type: 'TIMEOUT' });
    expect(await pid()).not.toBe(before);
    expect(bench.metrics.value('ute_executor_worker_restarts_total{python,unresponsive}')).toBe(1);
    await bench.executor.close?.();
  });

  it('a forked call that is given up ends alone, and its worker stays', async () => {
    const bench = new PythonBench(spawner, { workers: 1 });
    const worker = await bench.callable('good.pid_of_worker');
    const [before, sleep] = [await worker(), await bench.callable('good.sleep')];
    const gone = new AbortController();
    const given = failureOf(sleep({ seconds: 30 }, { signal: gone.signal }));
    gone.abort(new ToolFailure('CANCELLED', 'gone'));
    expect(await given).toMatchObject({ type: 'CANCELLED' });
    expect(await worker()).toBe(before);
    await bench.executor.close?.();
  });

  it('a worker past its age is replaced, and no call notices', async () => {
    const bench = new PythonBench(spawner, { workers: 1, maxWorkerAgeMs: 50 });
    const worker = await bench.callable('good.pid_of_worker');
    const before = await worker();
    await eventually(() => bench.metrics.value('ute_executor_workers{python}') === 1, 'it is up');
    await eventually(async () => expect(await worker()).not.toBe(before));
    await bench.executor.close?.();
  });
});

describe('interpreters', () => {
  it('a tool runs with the one it names; a name that nobody gave is refused', async () => {
    const dir = tempDir();
    const venv = await spawner.spawn({
      argv: ['python3', '-m', 'venv', '--without-pip', dir],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '' },
      channel: false,
    });
    expect(await venv.exited).toMatchObject({ code: 0 });
    const bench = new PythonBench(spawner, { interpreters: { own: join(dir, 'bin/python') } });
    const program = await bench.callable('good.program', { options: { interpreter: 'own' } });
    expect(await program()).toBe(dir);
    expect(await bench.call('good.program')).not.toBe(dir);
    await expect(bench.prepare('good', 'program', { options: { interpreter: 'toString' } })).rejects.toThrow(
      'the interpreter toString is not one of executors.python.interpreters (known: own).',
    );
    await bench.executor.close?.();
    removeDir(dir);
  });
});

describe('a dry run', () => {
  it('shows the module, the function and the arguments, and runs nothing', async () => {
    const bench = new PythonBench(spawner, { maxFrameBytes: 10_000 });
    const tool = await bench.prepare('bad', 'exit_now');
    expect(await tool.render?.(callOf({ a: 1 }))).toEqual({
      module: 'bad',
      function: 'exit_now',
      arguments: { a: 1 },
    });
    expect(() => tool.render?.(callOf({ a: 'x'.repeat(10_000) }))).toThrow(/larger than the limit/);
    await bench.executor.close?.();
  });
});

describe("a tool's own errors", () => {
  const bench = new PythonBench(spawner);
  afterAll(() => bench.executor.close?.());

  it('an exception is PERMANENT; what it says reaches the log and never the caller', async () => {
    const failure = await failureOf(bench.call('bad.raise_error', { text: 'out of paper' }));
    expect(failure).toMatchObject({
      type: 'PERMANENT',
      origin: 'tool',
      reason: 'EXCEPTION',
      retryable: false,
    });
    expect(failure.message).not.toMatch(/ValueError|paper/);
    expect(String(failure.cause)).toMatch(/Traceback.*ValueError: out of paper/s);
    expect(failure.partialSideEffects).toBeUndefined();
  });

  it.each([
    ['exit_politely', 'SystemExit: 3'],
    ['raise_unprintable', 'Unprintable: (its text cannot be read)'],
    ['recurse', 'RecursionError: maximum recursion depth exceeded'],
  ])('%s is an exception like any other', async (name, message) => {
    const failure = await failureOf(bench.call(`bad.${name}`));
    expect(failure).toMatchObject({ type: 'PERMANENT', reason: 'EXCEPTION' });
    expect(String(failure.cause)).toContain(message);
  });

  it('a ToolError has the type it names, or PERMANENT where the gateway knows no such type', async () => {
    const refuse = await bench.callable('good.refuse');
    expect(await failureOf(refuse({ type: 'CONFLICT', retryable: true }))).toMatchObject({
      type: 'CONFLICT',
      origin: 'tool',
      retryable: true,
      message: 'the tool says no',
    });
    expect(await failureOf(refuse({ type: 'NO_SUCH_TYPE' }))).toMatchObject({
      type: 'PERMANENT',
      retryable: false,
    });
    expect(await failureOf(refuse({ type: 'toString' }))).toMatchObject({ type: 'PERMANENT' });
  });

  it.each([
    ['return_set', 'NOT_JSON', {}],
    ['return_nan', 'NOT_JSON', {}],
    ['return_surrogate', 'NOT_JSON', {}],
    ['return_circle', 'NOT_JSON', {}],
    ['return_nested', 'TOO_DEEP', { depth: 65 }],
    ['return_big_integer', 'UNSAFE_NUMBER', {}],
  ])('%s is OUTPUT_INVALID and the worker goes on', async (name, reason, args) => {
    const lost = () =>
      ['died', 'protocol_violation', 'unresponsive', 'start_failed', 'recycled'].map((why) =>
        bench.metrics.value(`ute_executor_worker_restarts_total{python,${why}}`),
      );
    const before = lost();
    expect(await failureOf(bench.call(`bad.${name}`, args))).toMatchObject({
      type: 'OUTPUT_INVALID',
      reason,
    });
    // How many there are says nothing: the pool may start one more meanwhile.
    expect(lost()).toEqual(before);
    expect(bench.metrics.value('ute_executor_worker_restarts_total{python,protocol_violation}')).toBe(0);
  });

  it('a result may nest 64 levels deep', async () => {
    const nested = await bench.call('bad.return_nested', { depth: 64 });
    expect(JSON.stringify(nested).match(/[[{]/g)).toHaveLength(64);
  });

  it('a result over the limit is OUTPUT_TOO_LARGE', async () => {
    const failure = await failureOf(bench.call('bad.return_huge', { megabytes: 9 }));
    expect(failure).toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
  });

  it('arguments over the limit are PAYLOAD_TOO_LARGE', async () => {
    const small = new PythonBench(spawner, { maxFrameBytes: 10_000 });
    const failure = await failureOf(small.call('good.echo', { value: 'x'.repeat(10_000) }));
    expect(failure).toMatchObject({ type: 'PAYLOAD_TOO_LARGE', partialSideEffects: false });
    await small.executor.close?.();
  });
});

describe('what tools print', () => {
  const bench = new PythonBench(spawner);
  afterAll(() => bench.executor.close?.());
  afterEach(() => void (bench.log.lines.length = 0));

  it('goes to the log under the call and the tool, and to listeners of the call', async () => {
    const events: CallEvent[] = [];
    expect(
      await bench.call('good.prints', { text: 'one\ntwo' }, { emit: (event) => void events.push(event) }),
    ).toBe('printed');
    expect(events).toEqual([
      { kind: 'log', level: 'info', message: 'one' },
      { kind: 'log', level: 'info', message: 'two' },
      { kind: 'log', level: 'warn', message: 'to stderr' },
    ]);
    expect(bench.log.lines.find(({ fields }) => fields['callId'] !== undefined)).toEqual({
      level: 'info',
      fields: { callId: 'call-1', tool: 'good.prints', output: 'one' },
      message: 'a Python tool printed',
    });
  });

  it('is cut after 64 KiB, with one line that says so', async () => {
    const lines: string[] = [];
    const emit = (event: CallEvent) => void (event.kind === 'log' && lines.push(event.message));
    expect(await bench.call('good.prints_much', { lines: 10_000 }, { emit })).toBe('done');
    expect(lines.filter((line) => line.includes('truncated'))).toHaveLength(1);
    expect(lines.join('\n').length).toBeLessThan(66_000);
    expect(lines.length).toBeGreaterThan(500);
  });

  it('never becomes a result: garbage and forged frames on stdout, stderr, fd 3 and fd 4', async () => {
    const garbage = await bench.callable('bad.print_garbage');
    for (let i = 0; i < 5; i++) expect(await garbage()).toBe('right');
    expect(bench.metrics.value('ute_executor_worker_restarts_total{python,protocol_violation}')).toBe(0);
  });

  it('ends the worker when it never stops', async () => {
    const failure = await failureOf(bench.call('bad.print_forever'));
    expect(failure).toMatchObject({ type: 'OUTPUT_TOO_LARGE', reason: 'LOG_FLOOD' });
    expect(await bench.call('good.echo', { value: 1 })).toBe(1);
  });
});

describe('a worker that ends', () => {
  let bench: PythonBench;
  beforeAll(() => void (bench = reusing(spawner, { workers: 1 })));
  afterAll(() => bench.executor.close?.());

  it.each(['kill_self', 'exit_now', 'crash', 'close_channel'])(
    '%s: the call fails as WORKER_DIED and the next one works',
    async (name) => {
      const call = await bench.callable(`bad.${name}`);
      const echo = await bench.callable('good.echo');
      const failure = await failureOf(call());
      expect(failure).toMatchObject({ type: 'UNAVAILABLE', origin: 'gateway', reason: 'WORKER_DIED' });
      expect(failure.partialSideEffects).toBeUndefined();
      expect(await echo({ value: name })).toBe(name);
    },
  );

  it('killed from outside in mid-call: the next call works, and the restart is counted', async () => {
    const pid = Number(await bench.call('good.pid'));
    const died = bench.metrics.value('ute_executor_worker_restarts_total{python,died}');
    const [sleep, pidOf] = [await bench.callable('good.sleep'), await bench.callable('good.pid')];
    const sleeping = failureOf(sleep({ seconds: 30 }));
    const queued = pidOf();
    await pause(50);
    process.kill(pid, 'SIGKILL');
    expect(await sleeping).toMatchObject({ reason: 'WORKER_DIED' });
    expect(await queued).not.toBe(pid);
    expect(bench.metrics.value('ute_executor_worker_restarts_total{python,died}')).toBe(died + 1);
  });

  it('killed while idle: it is replaced without any call noticing', async () => {
    const pid = Number(await bench.call('good.pid'));
    const workers = () => bench.metrics.value('ute_executor_workers{python}');
    process.kill(pid, 'SIGKILL');
    await eventually(() => workers() === 0, 'the death is noticed');
    await eventually(() => workers() === 1, 'there is a new one');
    expect(await bench.call('good.pid')).not.toBe(pid);
  });

  it('takes what it started with it', async () => {
    const pid = Number(await bench.call('good.pid'));
    const child = Number(await bench.call('bad.leave_child_behind'));
    expect(isAlive(child)).toBe(true);
    process.kill(pid, 'SIGKILL');
    await eventually(() => !isAlive(child), 'the child of the worker is gone');
  });
});

describe('a worker that breaks the protocol', () => {
  const bench = reusing(spawner, { workers: 1 });
  afterAll(() => bench.executor.close?.());

  it('an answer nobody asked for: WORKER_PROTOCOL_VIOLATION, and the worker is gone', async () => {
    const pid = Number(await bench.call('good.pid'));
    const failure = await failureOf(bench.call('bad.answer_twice'));
    expect(failure).toMatchObject({ type: 'INTERNAL', reason: 'WORKER_PROTOCOL_VIOLATION' });
    expect(failure.message).not.toContain('forged');
    await eventually(() => !isAlive(pid), 'the worker is gone');
    expect(await bench.call('good.echo', { value: 1 })).toBe(1);
  });

  it('an announced size over the limit: OUTPUT_TOO_LARGE at once', async () => {
    expect(await failureOf(bench.call('bad.announce_huge'))).toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
  });

  it('a process forked by tool code cannot answer for the worker', async () => {
    expect(await bench.call('bad.fork_and_return')).toBe('from the parent');
    expect(await bench.call('good.echo', { value: 1 })).toBe(1);
  });
});

describe('an abort of a call that shares its process', () => {
  const bench = reusing(spawner, { workers: 1 });
  afterAll(() => bench.executor.close?.());

  it.each(['bad.spin', 'bad.spin_in_c'])(
    'stops %s; its worker is gone and the next call works',
    async (name) => {
      const pid = Number(await bench.call('good.pid'));
      const controller = new AbortController();
      const reason = new ToolFailure('TIMEOUT', 'too slow');
      const call = await bench.callable(name);
      setTimeout(() => controller.abort(reason), 100);
      await expect(call({}, { signal: controller.signal })).rejects.toBe(reason);
      await eventually(() => !isAlive(pid), 'the worker is gone');
      expect(await bench.call('good.echo', { value: 1 })).toBe(1);
    },
  );

  it('takes a waiting call out of the queue and leaves the worker alone', async () => {
    const pid = await bench.call('good.pid');
    const sleep = await bench.callable('good.sleep');
    const controller = new AbortController();
    const running = sleep({ seconds: 0.2 });
    const waiting = sleep({ seconds: 30 }, { signal: controller.signal });
    controller.abort(new ToolFailure('CANCELLED', 'gone'));
    await expect(waiting).rejects.toMatchObject({ type: 'CANCELLED' });
    expect(await running).toBe(pid);
    expect(await bench.call('good.pid')).toBe(pid);
  });

  it('before the call begins: nothing runs', async () => {
    const count = await bench.callable('good.count');
    const before = Number(await count());
    const signal = AbortSignal.abort(new ToolFailure('CANCELLED', 'gone'));
    await expect(count({}, { signal })).rejects.toMatchObject({ type: 'CANCELLED' });
    expect(await count()).toBe(before + 1);
  });
});

describe('limits', () => {
  it('a full queue refuses at once, and says when to try again', async () => {
    const bench = new PythonBench(spawner, { workers: 1, callsPerWorker: 1, maxQueue: 1 });
    const sleep = await bench.callable('good.sleep');
    await sleep({ seconds: 0 });
    const calls = [sleep({ seconds: 0.2 }), sleep({ seconds: 0 })];
    const refused = await failureOf(sleep({ seconds: 0 }));
    expect(refused).toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'QUEUE_FULL',
      retryable: true,
      partialSideEffects: false,
    });
    expect(refused.retryAfterMs).toBeGreaterThan(0);
    await Promise.all(calls);
    await bench.executor.close?.();
  });

  it('a worker is replaced after its number of calls, and no call notices', async () => {
    const bench = reusing(spawner, { workers: 1, maxCallsPerWorker: 20 });
    const pidOf = await bench.callable('good.pid');
    const pids = new Set<number>();
    const recycled = () => bench.metrics.value('ute_executor_worker_restarts_total{python,recycled}');
    while (recycled() < 3) pids.add(Number(await pidOf()));
    await eventually(() => [...pids].filter(isAlive).length <= 1, 'the old workers are gone');
    expect(bench.metrics.value('ute_executor_worker_restarts_total{python,died}')).toBe(0);
    await bench.executor.close?.();
  });
});

describe('prepare', () => {
  const bench = new PythonBench(spawner);
  afterAll(() => bench.executor.close?.());

  it.each([
    ['nowhere', 'add', /no Python module `nowhere` in .*fixtures\/python/],
    ['good.inner', 'add', /no Python module `good.inner`|importing the Python module `good.inner` failed/],
    ['good', 'missing', /`good` has no function `missing`/],
    ['good', 'not_a_function', /is not a function/],
    [
      'broken_import',
      'f',
      /importing the Python module `broken_import` failed: RuntimeError: no database configured/,
    ],
    ['json', 'dumps', /`json` is not in the tools' folders .* another name/],
    ['os', 'system', /`os` is not in the tools' folders/],
    ['unified_tools', 'ToolError', /`unified_tools` is not in the tools' folders/],
    ['bad', 'positional', /positional-only/],
  ])('refuses %s.%s with a sentence for the operator', async (module, name, sentence) => {
    await expect(bench.prepare(module, name)).rejects.toThrow(sentence);
  });

  it('compares the schema with the signature', async () => {
    const properties = { a: {}, extra: {} };
    await expect(bench.prepare('good', 'optional', { inputSchema: { properties } })).rejects.toThrow(
      'input_schema has the property extra, but the Python function has no such parameter; it takes a, b, c.',
    );
  });

  it('a missing interpreter is one line that says what to install', async () => {
    const without = new PythonBench(spawner, { interpreter: 'no-such-python' });
    const error = await without.prepare('good', 'echo').catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/`no-such-python` cannot be started: .* Install Python 3\.9 or newer/);
    expect(String(error)).not.toContain('\n');
    await without.executor.close?.();
  });

  it('an interpreter that is none is reported with what it printed', async () => {
    const wrong = new PythonBench(spawner, { interpreter: '/bin/cat' });
    await expect(wrong.prepare('good', 'echo')).rejects.toThrow(/exit code 1.*last printed/);
    await wrong.executor.close?.();
  });
});

describe('the end', () => {
  it('close leaves no process, busy workers included', async () => {
    const own = new NodeProcessSpawner();
    const bench = new PythonBench(own);
    const sleep = await bench.callable('good.sleep');
    const pids = (await Promise.all([sleep({ seconds: 0.3 }), sleep({ seconds: 0.3 })])).map(Number);
    const busy = failureOf(sleep({ seconds: 60 }));
    await bench.executor.close?.();
    expect(await busy).toMatchObject({ type: 'UNAVAILABLE' });
    expect(pids.filter(isAlive)).toEqual([]);
    expect(bench.metrics.value('ute_executor_workers{python}')).toBe(0);
    expect(await failureOf(sleep({ seconds: 0 }))).toMatchObject({ reason: 'EXECUTOR_CLOSED' });
  });

  it('the last function of a folder takes the workers with it', async () => {
    const bench = new PythonBench(spawner);
    const [first, second] = [await bench.prepare('good', 'pid'), await bench.prepare('good', 'echo')];
    await eventually(() => bench.metrics.value('ute_executor_workers{python}') === 2, 'both workers are up');
    await first.close?.();
    await first.close?.();
    expect(bench.metrics.value('ute_executor_workers{python}')).toBe(2);
    await second.close?.();
    expect(bench.metrics.value('ute_executor_workers{python}')).toBe(0);
  });

  it('no worker outlives a gateway that is killed, not even one that runs C code without end', async () => {
    const script = join(import.meta.dirname, '../fixtures/python-gateway.ts');
    const env = { PATH: process.env['PATH'] ?? '' };
    const gateway = await spawner.spawn({ argv: [process.execPath, script], cwd: '/', env, channel: false });
    const [printed] = await gateway.stdout.take(1).toArray();
    const pids = JSON.parse(String(printed)) as number[];
    expect(pids.filter(isAlive)).toHaveLength(2);
    process.kill(gateway.pid, 'SIGKILL');
    await eventually(() => pids.filter(isAlive).length === 0, 'both workers are gone');
  });
});
