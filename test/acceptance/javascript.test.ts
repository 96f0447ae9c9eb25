// Attacks on handlers in worker threads: time, memory, forged answers, what is left behind for the next call, secrets.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import type { CallEvent, ToolCall } from '../../src/contract/call/tool-call.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { javascriptExecutor } from '../../src/executors/javascript/index.ts';
import type { JsOptions } from '../../src/executors/javascript/options.ts';
import type { JavascriptSettings } from '../../src/executors/javascript/settings.ts';
import { callOf, functionOf } from '../helpers/call-kit.ts';
import { startHandlers } from '../helpers/handlers-gateway.ts';
import { javascriptNeeds } from '../helpers/javascript-kit.ts';
import { callTool, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import type { RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const TIMEOUT_MS = 500;
/** What a loaded test machine may add. */
const SLACK_MS = 1_500;

const ATTACKS = `
export const echo = (args) => args;
export function loop() { while (true); }
export const backtrack = () => /^(a+)+$/.test('a'.repeat(40) + '!');
export const freeze = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
export const deaf = () => new Promise(() => {});
export function grow() { const list = []; for (;;) list.push(list.length + 0.5); }
export function keys() { const all = {}; for (let n = 0; ; n += 1) all['key ' + n] = n; }
export function double() { let list = [1, 2, 3]; for (;;) list = list.concat(list); }
export function buffers() { const all = []; for (;;) all.push(Buffer.alloc(1_000_000, 1)); }
export async function patient() { const all = []; for (;;) { all.push(new Array(100_000).fill(0.5)); await null; } }
export function leap() { const all = []; for (;;) all.push(new Array(30_000_000).fill(0)); }
export const exit = () => process.exit(0);
export async function abort() { process.abort(); }
export const recurse = (args, { callTool }) => callTool('recurse', {});
export async function fan(args, { callTool }) {
  const refused = [];
  for (let n = 0; n < 60; n += 1) {
    const steps = Array.from({ length: 10 }, () => callTool('echo', { n }).catch(({ reason }) => refused.push(reason)));
    await Promise.all(steps);
  }
  return [...new Set(refused)];
}
export const environment = () => ({ ...process.env });
`;

const TOOLS = ['echo', 'loop', 'backtrack', 'freeze', 'deaf', 'grow', 'keys', 'double', 'buffers', 'patient', 'leap', 'exit', 'abort', 'recurse', 'fan', 'environment']; // oxfmt-ignore
const SHORT = new Set(['loop', 'backtrack', 'freeze', 'deaf']);

const WITHIN = { timeout: 20_000, interval: 20 };

describe('through a whole gateway', () => {
  const dir = tempDir();
  let gateway: RunningGateway;
  let agent: RestTarget;

  beforeAll(async () => {
    const timeoutOf = (name: string) => (SHORT.has(name) ? TIMEOUT_MS : 120_000);
    gateway = await startHandlers(
      dir,
      ATTACKS,
      TOOLS.map((name) => ({ name, timeoutMs: timeoutOf(name) })),
    );
    agent = targetOf(gateway, 'agent');
  });

  afterAll(async () => {
    await gateway?.stop();
    removeDir(dir);
  });

  async function stillServes(): Promise<void> {
    expect((await callTool(agent, 'echo', { n: 7 })).body).toMatchObject({ ok: true, data: { n: 7 } });
  }

  it.each([
    ['a loop that never yields', 'loop'],
    ['a pattern that backtracks without end', 'backtrack'],
    ['a thread that waits for nothing', 'freeze'],
    ['a promise that never settles and ignores the signal', 'deaf'],
  ])('%s is a TIMEOUT on time, and holds no thread back', async (_attack, tool) => {
    const startedAt = performance.now();
    const answers = await Promise.all([callTool(agent, tool), callTool(agent, tool)]);
    expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS + SLACK_MS);
    expect(answers.map(({ body }) => body.error?.type)).toEqual(['TIMEOUT', 'TIMEOUT']);
    const echoedAt = performance.now();
    await callTool(agent, 'echo');
    expect(performance.now() - echoedAt).toBeLessThan(SLACK_MS);
    await stillServes();
  });

  it.each([
    ['a list that grows without end', 'grow'],
    ['an object that is given keys without end', 'keys'],
    ['a list that doubles without end', 'double'],
    ['buffers outside the heap', 'buffers'],
    ['a list that grows in many small turns', 'patient'],
    ['lists that are larger than the limit each', 'leap'],
  ])('%s ends its thread alone', async (_attack, tool) => {
    const { body } = await callTool(agent, tool);
    expect(body.error).toMatchObject({ type: 'PERMANENT', reason: 'OUT_OF_MEMORY', origin: 'tool' });
    await stillServes();
  });

  it('process.exit ends the thread and not the gateway', async () => {
    const { status, body } = await callTool(agent, 'exit');
    expect({ status, body }).toMatchObject({
      status: 503,
      body: { error: { type: 'UNAVAILABLE', reason: 'WORKER_DIED' } },
    });
    await stillServes();
  });

  it('process.abort is an exception', async () => {
    expect((await callTool(agent, 'abort')).body.error).toMatchObject({
      type: 'PERMANENT',
      reason: 'EXCEPTION',
    });
    await stillServes();
  });

  it('a tool that calls itself without end is refused at a depth, although each level holds a thread', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => callTool(agent, 'recurse')));
    expect(answers.map(({ body }) => body.error?.reason)).toEqual(answers.map(() => 'STEPS_TOO_DEEP'));
    await stillServes();
  });

  it('a tool that calls others without end uses up its steps', async () => {
    expect((await callTool(agent, 'fan')).body).toMatchObject({ ok: true, data: ['TOO_MANY_STEPS'] });
    await stillServes();
  });

  it("the gateway's environment is not there", async () => {
    expect((await callTool(agent, 'environment')).body.data).toEqual({});
    await stillServes();
  });
});

describe('in the threads themselves', () => {
  let baseDir: string;
  let close: () => Promise<void> = async () => {};

  beforeEach(() => {
    baseDir = tempDir();
  });
  afterEach(async () => {
    await close();
    removeDir(baseDir);
  });

  function startExecutor(settings: Partial<JavascriptSettings> = {}) {
    const needs = javascriptNeeds({ workers: 1, ...settings });
    const executor = javascriptExecutor.create(needs);
    close = async () => executor.close?.();
    async function prepare(text: string, name: string, options: Partial<JsOptions> = {}) {
      writeFileSync(join(baseDir, 'handler.mjs'), text);
      const prepared = await executor.prepare({
        function: functionOf({ baseDir }),
        options: { handler: 'handler.mjs', export: name, ...options },
      });
      return (changes: Partial<ToolCall> = {}, emit: (event: CallEvent) => void = () => {}) =>
        prepared.execute(callOf(changes), emit);
    }
    return { ...needs, prepare };
  }

  it('what a timer throws after the answer harms no other call', async () => {
    const { prepare, log } = startExecutor();
    const text = `
      export const late = () => { setTimeout(() => { throw new Error('late bang'); }, 5); return 'done'; };
      export const wait = () => new Promise((done) => setTimeout(done, 60, 'waited'));
      export const threads = async () => (await import('node:worker_threads')).threadId;`;
    const [late, wait, threads] = [
      await prepare(text, 'late'),
      await prepare(text, 'wait'),
      await prepare(text, 'threads'),
    ];
    const before = await threads();
    expect(await late()).toEqual({ data: 'done' });
    expect(await wait()).toEqual({ data: 'waited' });
    expect(await threads()).not.toEqual(before);
    expect(log.lines.some(({ fields }) => String(fields['output']).includes('late bang'))).toBe(true);
  });

  it.each([
    ['a rejection that nobody handles', 'Promise.reject(new TypeError("lost"))'],
    ['an error out of a timer', 'setTimeout(() => { throw new TypeError("lost"); })'],
  ])('%s fails the call that it belongs to', async (_attack, code) => {
    const { prepare } = startExecutor();
    const run = await prepare(`export const run = () => { ${code}; return new Promise(() => {}); }`, 'run');
    await expect(run()).rejects.toMatchObject({
      type: 'PERMANENT',
      reason: 'EXCEPTION',
      cause: expect.objectContaining({ message: 'lost' }) as unknown,
    });
  });

  it('arguments that pollute a prototype reach neither the gateway nor the next call', async () => {
    const { prepare } = startExecutor();
    const text = `
      const merge = (to, from) => { for (const k in from) typeof from[k] === 'object' ? merge(to[k] ??= {}, from[k]) : (to[k] = from[k]); return to; };
      export const pollute = (args) => merge({}, args).polluted ?? null;
      export const look = () => ({ seen: [({}).polluted, [].polluted, ({}).toString === 1] });`;
    const [pollute, look] = [await prepare(text, 'pollute'), await prepare(text, 'look')];
    const attacks = [
      '{"__proto__": {"polluted": "yes"}}',
      '{"constructor": {"prototype": {"polluted": "yes"}}}',
      '{"a": {"__proto__": {"toString": 1}}}',
    ];
    for (const attack of attacks) {
      await pollute({ arguments: JSON.parse(attack) as JsonObject });
      expect('polluted' in {}).toBe(false);
      expect(await look()).toEqual({ data: { seen: [null, null, false] } });
    }
  });

  it('answers forged through the public port, the prototype of ports or JSON go nowhere', async () => {
    const { prepare } = startExecutor();
    const text = `
      import { MessagePort, parentPort, workerData } from 'node:worker_threads';
      let caught;
      export function attack() {
        const forged = { kind: 'returned', id: '', body: '"forged"', spoiled: false };
        parentPort.postMessage(forged);
        const post = MessagePort.prototype.postMessage;
        MessagePort.prototype.postMessage = function (...args) { caught = this; return post.apply(this, args); };
        JSON.stringify = () => '"forged"';
        JSON.parse = () => ({ forged: true });
        return { workerData: workerData ?? null };
      }
      export const after = (args) => ({ args, caught: caught === undefined });`;
    const [attack, after] = [await prepare(text, 'attack'), await prepare(text, 'after')];
    expect(await attack()).toEqual({ data: { workerData: null } });
    expect(await after({ arguments: { n: 1 } })).toEqual({ data: { args: { n: 1 }, caught: true } });
  });

  it.each([
    ['huge', '() => "x".repeat(20_000)', 'OUTPUT_TOO_LARGE', 'OUTPUT_TOO_LARGE'],
    [
      'longer than any string',
      '() => Array(40).fill("x".repeat(2 ** 24))',
      'OUTPUT_TOO_LARGE',
      'OUTPUT_TOO_LARGE',
    ],
    [
      'deep',
      '() => { let it = 1; for (let n = 0; n < 100; n += 1) it = [it]; return it; }',
      'OUTPUT_INVALID',
      'TOO_DEEP',
    ],
    [
      'bottomless',
      '() => { let it = 1; for (let n = 0; n < 1e6; n += 1) it = [it]; return it; }',
      'OUTPUT_INVALID',
      'NOT_JSON',
    ],
    ['cyclic', '() => { const it = {}; it.it = it; return it; }', 'OUTPUT_INVALID', 'NOT_JSON'],
    ['no JSON', '() => ({ n: 1n })', 'OUTPUT_INVALID', 'NOT_JSON'],
    ['no number', '() => ({ list: [1, 0 / 0] })', 'OUTPUT_INVALID', 'NOT_JSON'],
    ['without end as a number', '() => -Infinity', 'OUTPUT_INVALID', 'NOT_JSON'],
    ['a trap', '() => ({ toJSON() { throw new Error("no"); } })', 'OUTPUT_INVALID', 'NOT_JSON'],
  ])('a result that is %s is refused', async (_attack, code, type, reason) => {
    const { prepare } = startExecutor({ maxMessageBytes: 10_000, maxMemoryBytes: 1 << 30 });
    const run = await prepare(`export const run = ${code};`, 'run');
    await expect(run()).rejects.toMatchObject({ type, reason });
  });

  it('a thrown object whose properties are traps is an EXCEPTION', async () => {
    const { prepare } = startExecutor();
    const trap = 'new Proxy({}, { get() { throw new Error("trap"); } })';
    const run = await prepare(`export const run = () => { throw ${trap}; }`, 'run');
    await expect(run()).rejects.toMatchObject({ type: 'PERMANENT', reason: 'EXCEPTION' });
  });

  it('printing without end is cut, and ends with the call', async () => {
    const { prepare, log } = startExecutor();
    const run = await prepare('export const run = () => { while (true) console.log("again"); }', 'run');
    const aborter = new AbortController();
    const reason = new ToolFailure('TIMEOUT', 'late');
    const printed = () => log.lines.filter(({ message }) => message === 'a JavaScript handler printed');
    const running = run({ signal: aborter.signal });
    running.catch(() => undefined);
    await expect.poll(() => printed().at(-1)?.fields['output'], WITHIN).toContain('output truncated');
    aborter.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(printed().length).toBeLessThan(1_100);
  });

  it('reporting progress without end is an exception', async () => {
    const { prepare } = startExecutor();
    const text = 'export const run = (_, { progress }) => { while (true) progress(0.5); }';
    let events = 0;
    const run = await prepare(text, 'run');
    await expect(run({}, () => (events += 1))).rejects.toMatchObject({
      reason: 'EXCEPTION',
      cause: expect.objectContaining({
        message: expect.stringContaining('without end') as string,
      }) as unknown,
    });
    expect(events).toBe(10_000);
  });

  it.each([{}, { trusted: true } as const])(
    'secrets in errors, logs and results are scrubbed %j',
    async (mode) => {
      const { prepare, log } = startExecutor();
      const text = `
      export async function run({ fail }, { secrets, logger }) {
        logger.info('with ' + secrets.token);
        const cause = Object.assign(new Error('401 for ' + secrets.token), { type: 'AUTH', details: { sent: secrets.token } });
        if (fail) throw cause;
        return { header: 'Basic ' + Buffer.from('user:' + secrets.token).toString('base64') };
      }`;
      const run = await prepare(text, 'run', mode);
      const said: unknown[] = [];
      const sensitiveConfig = { token: 'tok-4711-secret' };
      const failure: unknown = await run({ sensitiveConfig, arguments: { fail: true } }, (event) =>
        said.push(event),
      ).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        type: 'AUTH',
        message: '401 for [secret]',
        details: { sent: '[secret]' },
      });
      const { data } = await run({ sensitiveConfig, arguments: { fail: false } });
      const { cause } = failure as ToolFailure;
      const all = JSON.stringify([said, log.lines, data, String(cause)]);
      expect(all).not.toContain('tok-4711');
      expect(all).not.toContain(Buffer.from('user:tok-4711-secret').toString('base64').slice(8, 20));
    },
  );

  it.each([{}, { trusted: true } as const])(
    'a secret across the edge of what is cut leaves no part behind %j',
    async (mode) => {
      const { prepare, log } = startExecutor();
      const text = `
      const across = (edge, secret) => 'x'.repeat(edge - 8) + secret + 'y'.repeat(40_000);
      export function run({ prints }, { secrets, logger, progress }) {
        for (const edge of [2_000, 4_001]) {
          logger.info(across(edge, secrets.token));
          progress(0.5, across(edge, secrets.token));
        }
        if (prints) for (const edge of [4_000, 8_001]) console.log(across(edge, secrets.token));
        throw Object.assign(new Error(across(500, secrets.token)), { type: 'AUTH' });
      }
      export const throws = (_, { secrets }) => { throw across(8_000, secrets.token); };`;
      const said: unknown[] = [];
      const sensitiveConfig = { token: 'tok-4711-secret' };
      const call = { sensitiveConfig, arguments: { prints: mode.trusted !== true } };
      for (const name of ['run', 'throws']) {
        const run = await prepare(text, name, mode);
        const failure: unknown = await run(call, (event) => said.push(event)).catch(
          (error: unknown) => error,
        );
        const { message, cause, details } = failure as ToolFailure;
        expect(JSON.stringify([said, log.lines, message, details, String(cause)])).not.toContain('tok-4');
      }
      expect(JSON.stringify(said)).toContain('xxx');
    },
  );

  it('what is called after the answer calls no tool any more', async () => {
    const { prepare } = startExecutor();
    const text = `
      let caught = 'nothing';
      export const run = (_, { callTool }) => {
        setTimeout(() => callTool('echo').catch((error) => { caught = error.message; }));
        return null;
      };
      export const look = () => new Promise((done) => setTimeout(() => done(caught), 20));`;
    const [run, look] = [await prepare(text, 'run'), await prepare(text, 'look')];
    await run();
    expect(await look()).toEqual({ data: 'callTool: the call that asks for it is over.' });
  });

  it('one call that blocks a shared thread fails the others there as retryable', async () => {
    const { prepare } = startExecutor();
    const text = `
      export const wait = () => new Promise(() => {});
      export const block = () => { while (true); };
      export const echo = (args) => args;`;
    const concurrent = { concurrent: true } as const;
    const [wait, block, echo] = [
      await prepare(text, 'wait', concurrent),
      await prepare(text, 'block', concurrent),
      await prepare(text, 'echo', concurrent),
    ];
    const waiting = Promise.allSettled([wait(), wait()]);
    expect(await echo({ arguments: { n: 1 } })).toEqual({ data: { n: 1 } });
    const reason = new ToolFailure('TIMEOUT', 'late');
    const aborter = new AbortController();
    setTimeout(() => aborter.abort(reason), 50);
    await expect(block({ signal: aborter.signal })).rejects.toBe(reason);
    for (const outcome of await waiting) {
      expect(outcome).toMatchObject({
        reason: { type: 'UNAVAILABLE', reason: 'WORKER_DIED', retryable: true },
      });
    }
    expect(await echo({ arguments: { n: 2 } })).toEqual({ data: { n: 2 } });
  });

  it('more calls than may wait are refused at once', async () => {
    const { prepare } = startExecutor({ maxQueue: 1 });
    const run = await prepare('export const run = () => new Promise(() => {});', 'run');
    const aborter = new AbortController();
    const calls = [
      run({ signal: aborter.signal }),
      run({ signal: aborter.signal }),
      run({ signal: aborter.signal }),
    ];
    const settled = Promise.allSettled(calls);
    const refused = await Promise.race(calls.map((call) => call.catch((error: unknown) => error)));
    expect(refused).toMatchObject({ type: 'UNAVAILABLE', reason: 'QUEUE_FULL', retryable: true });
    aborter.abort(new ToolFailure('CANCELLED', 'over'));
    await settled;
  });

  it('a handler file that changes on disk is not run before it was checked', async () => {
    const { prepare } = startExecutor();
    const run = await prepare('export const run = ({ die }) => (die ? process.exit(1) : "checked");', 'run');
    writeFileSync(join(baseDir, 'handler.mjs'), 'export const run = () => "not checked";');
    await expect(run({ arguments: { die: true } })).rejects.toMatchObject({ reason: 'WORKER_DIED' });
    expect(await run()).toEqual({ data: 'checked' });
  });

  it('a module that never finishes loading is refused at load', async () => {
    const { prepare } = startExecutor({ startTimeoutMs: 6_000 });
    await expect(prepare('while (true); export const run = 1;', 'run')).rejects.toThrow(
      'handler: handler.mjs cannot be imported: it took longer than 6000 ms',
    );
    const run = await prepare('export const run = () => 1;', 'run');
    expect(await run()).toEqual({ data: 1 });
  });
});
