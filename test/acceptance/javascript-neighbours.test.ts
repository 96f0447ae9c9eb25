// JavaScript handlers that block, kill and multiply, beside calls of another tenant, which notice nothing of it.
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import type { ToolCall } from '../../src/contract/call/tool-call.ts';
import { javascriptExecutor } from '../../src/executors/javascript/index.ts';
import { eventually } from '../helpers/eventually.ts';
import { callOf, functionOf, principalOf } from '../helpers/call-kit.ts';
import { javascriptNeeds } from '../helpers/javascript-kit.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const HANDLERS = `
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker, threadId } from 'node:worker_threads';
const view = () => new Int32Array(new SharedArrayBuffer(4));
const forEver = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';
export const pid = () => process.pid;
export const hold = async ({ ms }) => { await new Promise((done) => setTimeout(done, ms)); return process.pid; };
export const freeze = () => Atomics.wait(view(), 0, 0);
export const freezeAgain = () => { const v = view(); for (;;) Atomics.wait(v, 0, 0, 10); };
export const freezeLater = () => new Promise(() => setTimeout(() => Atomics.wait(view(), 0, 0), 1));
export const freezeAll = () => { new Worker(forEver, { eval: true }); Atomics.wait(view(), 0, 0); };
export const kill = () => { process.kill(process.pid, 'SIGKILL'); for (;;); };
export const abort = () => { process.kill(process.pid, 'SIGABRT'); for (;;); };
export const multiply = () => { for (let n = 0; n < 4; n += 1) new Worker(forEver, { eval: true }); return process.pid; };
export const multiplyLate = async () => { await null; for (let n = 0; n < 4; n += 1) new Worker(forEver, { eval: true }); return process.pid; };
const spin = () => { for (;;); };
const aMoment = () => { for (const until = performance.now() + 1; performance.now() < until;); };
const keepOn = (again) => { const step = () => { aMoment(); again(step); }; step(); };
export const thread = () => threadId;
export const work = () => { for (const until = performance.now() + 600; performance.now() < until;); return threadId; };
export const spinAtOnce = () => { setTimeout(spin, 0); return threadId; };
export const spinSoon = () => { setImmediate(spin); return threadId; };
export const spinTicks = async () => { keepOn(process.nextTick); return threadId; };
export const spinPromises = async () => { keepOn((step) => Promise.resolve().then(step)); return threadId; };
export const spinLater = () => { setTimeout(spin, 1_000); return threadId; };
export const spinAfterSleep = () => { sleep(1_000).then(spin); return threadId; };
export const spinUnref = () => { setTimeout(spin, 1_000).unref(); return threadId; };
export const spinOnAbort = () => { AbortSignal.timeout(1_000).addEventListener('abort', spin); return threadId; };
export const spinOnMessage = () => {
  const { port1, port2 } = new MessageChannel();
  port1.on('message', spin).unref();
  setTimeout(() => port2.postMessage(''), 1_000).unref();
  return threadId;
};
const connected = (port) => new Promise((done) => { const socket = connect(port, '127.0.0.1', () => done(socket)); });
export const spinOnData = async ({ port }) => { (await connected(port)).on('data', spin); return threadId; };
export const spinOnDataUnref = async ({ port }) => { (await connected(port)).unref().on('data', spin); return threadId; };
export const get = async ({ port }) => {
  await (await fetch('http://127.0.0.1:' + port)).text();
  await new Promise((done, fail) => request({ port }, (got) => got.resume().on('end', done)).on('error', fail).end());
  return threadId;
};
let left;
export const leave = () => { left = setInterval(() => {}, 10); return threadId; };
export const clear = () => { clearInterval(left); return threadId; };
`;
const WITH_INTERVAL = `
import { threadId } from 'node:worker_threads';
setInterval(() => {}, 10);
export const thread = () => threadId;
`;

describe('beside another tenant’s calls', () => {
  let dir: string;
  let close: () => Promise<void> = async () => {};
  let restarts: ReadonlyMap<string, number>;

  beforeEach(() => {
    dir = tempDir();
    writeFileSync(join(dir, 'handler.mjs'), HANDLERS);
  });
  afterEach(async () => {
    await close();
    removeDir(dir);
  });

  function startExecutor(handler = 'handler.mjs') {
    const needs = javascriptNeeds({ workers: 2 });
    restarts = needs.metrics.values;
    const executor = javascriptExecutor.create(needs);
    close = async () => executor.close?.();
    return async (name: string) => {
      const options = { handler, export: name };
      const prepared = await executor.prepare({ function: functionOf({ baseDir: dir }), options });
      return async (tenantId: string, changes: Partial<ToolCall> = {}) => {
        const principal = principalOf({ tenantId });
        return (await prepared.execute(callOf({ principal, ...changes }), () => {})).data;
      };
    };
  }

  async function expectReplaced(reason: string): Promise<void> {
    const counter = `ute_executor_worker_restarts_total{javascript,${reason}}`;
    await eventually(() => restarts.get(counter) === 1, `a thread was replaced: ${reason}`);
  }

  it.each(['freeze', 'freezeAgain', 'freezeLater', 'freezeAll'])(
    'a handler in Atomics.wait (%s) ends with its own call, not with the process that others run in',
    async (name) => {
      const prepare = startExecutor();
      const [pid, hold, attack] = [await prepare('pid'), await prepare('hold'), await prepare(name)];
      const process = await pid('modest');
      const holding = hold('modest', { arguments: { ms: 2_500 } });
      const timeout = new ToolFailure('TIMEOUT', 'late');
      const aborter = new AbortController();
      const attacks = [
        attack('greedy', { signal: aborter.signal }),
        attack('greedy', { signal: aborter.signal }),
      ];
      const ends = Promise.allSettled(attacks);
      expect(await pid('third')).toBe(process);
      aborter.abort(timeout);
      for (const end of await ends) expect(end).toMatchObject({ reason: timeout });
      expect(await holding).toBe(process);
      expect(await pid('greedy')).toBe(process);
    },
  );

  it.each(['kill', 'abort'])(
    'a handler that ends its process (%s) is not told that it used up memory',
    async (name) => {
      const attack = await startExecutor()(name);
      await expect(attack('greedy')).rejects.toMatchObject({ type: 'UNAVAILABLE', reason: 'WORKER_DIED' });
    },
  );

  it.each(['multiply', 'multiplyLate'])(
    'threads that a handler starts (%s) end with its call',
    async (name) => {
      const prepare = startExecutor();
      const [pid, multiply] = [await prepare('pid'), await prepare(name)];
      const host = Number(await pid('greedy'));
      const threads = () => readdirSync(`/proc/${host}/task`).length;
      const before = threads();
      for (let round = 0; round < 5; round += 1) expect(await multiply('greedy')).toBe(host);
      await eventually(() => threads() <= before + 4, 'the threads of five calls are gone');
      expect(await pid('greedy')).toBe(host);
    },
  );

  it.each(['spinAtOnce', 'spinSoon', 'spinTicks', 'spinPromises'])(
    'a handler that spins after its answer (%s) keeps no call waiting: its thread is ended',
    async (name) => {
      const prepare = startExecutor();
      const [thread, attack] = [await prepare('thread'), await prepare(name)];
      const attacked = await attack('greedy');
      expect(await thread('modest')).not.toBe(attacked);
      await expectReplaced('unresponsive');
      expect(await thread('greedy')).not.toBe(attacked);
    },
  );

  it.each(['spinLater', 'spinAfterSleep', 'spinUnref', 'spinOnAbort', 'spinOnMessage'])(
    'a handler that has something run later (%s) keeps its thread: no call of another tenant is in it when that spins',
    async (name) => {
      const prepare = startExecutor();
      const [hold, attack] = [await prepare('hold'), await prepare(name)];
      await attack('greedy');
      const process = await hold('modest', { arguments: { ms: 2_500 } });
      expect(await hold('modest', { arguments: { ms: 0 } })).toBe(process);
      await expectReplaced('unresponsive');
    },
  );

  it.each(['spinOnData', 'spinOnDataUnref'])(
    'a handler that leaves a connection open (%s) keeps its thread: no call of another tenant is in it when that spins',
    async (name) => {
      const prepare = startExecutor();
      const [hold, attack] = [await prepare('hold'), await prepare(name)];
      const sockets: Socket[] = [];
      const server = createServer((socket) => sockets.push(socket.on('error', () => {}))).listen(0);
      const { port } = server.address() as AddressInfo;
      await attack('greedy', { arguments: { port } });
      await eventually(() => sockets.length > 0, 'the connection is taken');
      const holding = hold('modest', { arguments: { ms: 1_500 } });
      for (const socket of sockets) socket.write('now');
      const process = await holding;
      expect(await hold('modest', { arguments: { ms: 0 } })).toBe(process);
      await expectReplaced('unresponsive');
      server.close();
    },
  );

  it('connections that fetch and http keep for the next request bind a thread to no tenant', async () => {
    const get = await startExecutor()('get');
    const server = createHttpServer((_request, response) => void response.end('x')).listen(0);
    const { port } = server.address() as AddressInfo;
    const changes = { arguments: { port } };
    const first = await get('modest', changes);
    for (let round = 0; round < 5; round += 1) {
      expect(await get('greedy', changes)).toBe(first);
      expect(await get('modest', changes)).toBe(first);
    }
    server.close();
    server.closeAllConnections();
  });

  it.each(['spinTicks', 'spinPromises'])(
    'a call that is given at once to its tenant’s thread, in which a handler spins after its answer (%s), does not wait for its own time to be over',
    async (name) => {
      const prepare = startExecutor();
      const [thread, attack] = [await prepare('thread'), await prepare(name)];
      await attack('greedy');
      await expect(thread('greedy')).rejects.toMatchObject({ reason: 'WORKER_DIED' });
      await thread('greedy');
    },
  );

  it('a call that is given at once to its tenant’s thread may take as long as any other', async () => {
    const prepare = startExecutor();
    const [thread, work] = [await prepare('thread'), await prepare('work')];
    const first = await thread('modest');
    for (let round = 0; round < 8; round += 1) expect(await work('modest')).toBe(first);
  });

  it('a thread is anybody’s again once nothing of a call is left in it', async () => {
    const prepare = startExecutor();
    const [thread, leave, clear] = [await prepare('thread'), await prepare('leave'), await prepare('clear')];
    const first = await leave('greedy');
    expect(await thread('modest')).not.toBe(first);
    expect(await clear('greedy')).toBe(first);
    await eventually(async () => expect(await thread('modest')).toBe(first));
  });

  it('tenants whose calls leave something make room for one another', async () => {
    const leave = await startExecutor()('leave');
    const threads = new Set<unknown>();
    for (let tenant = 0; tenant < 8; tenant += 1) {
      threads.add(await leave(`tenant-${tenant}`));
    }
    expect(threads.size).toBe(8);
  });

  it('tenants whose calls leave nothing share a thread, whatever timers its modules have', async () => {
    writeFileSync(join(dir, 'interval.mjs'), WITH_INTERVAL);
    const thread = await startExecutor('interval.mjs')('thread');
    const first = await thread('modest');
    for (let round = 0; round < 10; round += 1) {
      expect(await thread('greedy')).toBe(first);
      expect(await thread('modest')).toBe(first);
    }
  });
});
