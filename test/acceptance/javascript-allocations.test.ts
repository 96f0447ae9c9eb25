// Attacks with one allocation that V8 answers by ending the whole process: it is a process apart, and never the gateway.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { javascriptExecutor } from '../../src/executors/javascript/index.ts';
import { eventually } from '../helpers/eventually.ts';
import { callOf, functionOf } from '../helpers/call-kit.ts';
import { startHandlers } from '../helpers/handlers-gateway.ts';
import { javascriptNeeds } from '../helpers/javascript-kit.ts';
import { callTool, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import type { RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const ATTACKS = `
import { writeSync } from 'node:fs';
export const echo = (args) => args;
export const wait = () => new Promise(() => {});
export const pid = () => process.pid;
export const fill = ({ n }) => Array(n).fill(0).length;
export const objects = ({ n }) => new Array(n).fill(0).map(() => ({})).length;
export const split = ({ n }) => 'x'.repeat(n).split('').length;
export const parse = ({ n }) => JSON.parse('[' + '0,'.repeat(n) + '0]').length;
export const match = ({ n }) => 'a'.repeat(n).match(/a/g).map(String).length;
export const shift = ({ n }) => { const all = []; for (;;) all.push(1n << BigInt(n)); };
export const buffer = ({ n }) => Buffer.alloc(n, 1).length;
const kept = [];
const made = (make, n) => { for (let bytes = 0; bytes < n; bytes += 2 ** 24) kept.push(new Uint8Array(make()).fill(1)); };
const held = async (make, n) => { made(make, n); await new Promise((done) => setTimeout(done, 1_000)); return kept.length; };
export const shared = ({ n }) => held(() => new SharedArrayBuffer(2 ** 24), n);
export const shared_grown = ({ n }) => held(() => {
  const small = new SharedArrayBuffer(1, { maxByteLength: 2 ** 24 });
  small.grow(2 ** 24);
  return small;
}, n);
export const shared_slices = ({ n }) => held(() => new (new SharedArrayBuffer(1).constructor)(2 ** 24).slice(), n);
export const shared_wasm = ({ n }) => held(() => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 256, shared: true });
  memory.grow(255);
  return memory.buffer;
}, n);
export const kill = () => process.kill(process.pid, 'SIGKILL');
export const forge = ({ text }) => { writeSync(4, Buffer.from(text, 'base64')); return new Promise(() => {}); };
`;
const TOOLS = ['echo', 'wait', 'pid', 'fill', 'objects', 'split', 'parse', 'match', 'shift', 'buffer', 'shared', 'shared_grown', 'shared_slices', 'shared_wasm', 'kill', 'forge']; // oxfmt-ignore
const OURS = expect.stringMatching(/^(OUT_OF_MEMORY|WORKER_DIED)$/) as string;

function frame(text: string): string {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(text.length);
  return header.toString('latin1') + text;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('through a whole gateway', () => {
  const dir = tempDir();
  let gateway: RunningGateway;
  let agent: RestTarget;

  beforeAll(async () => {
    gateway = await startHandlers(dir, ATTACKS, [
      ...TOOLS.map((name) => ({ name, timeoutMs: 25_000 })),
      { name: 'fill_briefly', exported: 'fill', timeoutMs: 400 },
    ]);
    agent = targetOf(gateway, 'agent');
  });

  afterAll(async () => {
    await gateway?.stop();
    removeDir(dir);
  });

  async function stillServes(): Promise<void> {
    expect((await callTool(agent, 'echo', { n: 7 })).body).toMatchObject({ ok: true, data: { n: 7 } });
  }

  const hostPid = async () => (await callTool(agent, 'pid')).body.data as number;

  it.each([
    ['a list filled to its largest size', 'fill', 134_217_725],
    ['a list of objects as long as a list can be', 'objects', 2 ** 27],
    ['a string split into more parts than a list holds', 'split', 2 ** 28],
    ['a JSON text of more items than a list holds', 'parse', 2 ** 27],
    ['matches without number', 'match', 2 ** 27],
    ['integers of a billion bits', 'shift', 2 ** 30 - 64],
    ['a buffer larger than the memory of all threads', 'buffer', 2 ** 32],
  ])('%s ends the call and not the gateway', async (_attack, tool, n) => {
    expect((await callTool(agent, tool, { n })).body.error).toMatchObject({ reason: OURS });
    await stillServes();
  });

  it.each(['shared', 'shared_grown', 'shared_slices', 'shared_wasm'])(
    'memory that threads may share (%s) is the memory of the thread that makes it',
    async (tool) => {
      const { error } = (await callTool(agent, tool, { n: 2 ** 27 })).body;
      expect(error).toMatchObject({ reason: 'OUT_OF_MEMORY' });
      expect((await callTool(agent, tool, { n: 2 ** 24 })).body).toMatchObject({ ok: true, data: 1 });
    },
  );

  it('a call that ends its process with an allocation is told so, and not asked to try again', async () => {
    const before = await hostPid();
    expect((await callTool(agent, 'split', { n: 2 ** 28 })).body.error).toMatchObject({
      type: 'PERMANENT',
      reason: 'OUT_OF_MEMORY',
      origin: 'tool',
    });
    expect(await hostPid()).not.toBe(before);
  });

  it('calls beside one that ends their process fail as WORKER_DIED, and the next ones are served', async () => {
    await stillServes();
    const waiting = callTool(agent, 'wait');
    const attacking = callTool(agent, 'split', { n: 2 ** 28 });
    for (const { body } of await Promise.all([waiting, attacking])) {
      expect(body.error).toMatchObject({ type: 'UNAVAILABLE', reason: 'WORKER_DIED' });
    }
    await stillServes();
  });

  it('lists that take minutes to fill hold no thread back, however many ask for them', async () => {
    for (let round = 0; round < 2; round += 1) {
      const calls = [1, 2, 3].map(() => callTool(agent, 'fill_briefly', { n: 2 ** 32 - 1 }));
      for (const { body } of await Promise.all(calls)) {
        expect(body.error).toMatchObject({
          type: expect.stringMatching(/^(TIMEOUT|PERMANENT|UNAVAILABLE)$/),
        });
      }
    }
    await stillServes();
    await eventually(async () => {
      const startedAt = performance.now();
      await Promise.all([stillServes(), stillServes()]);
      expect(performance.now() - startedAt).toBeLessThan(1_000);
    });
  });

  it('a handler that kills its process does not kill the gateway', async () => {
    expect(await hostPid()).not.toBe(process.pid);
    expect((await callTool(agent, 'kill')).body.error).toMatchObject({ reason: OURS });
    await stillServes();
  });

  it.each([
    ['bytes that are no frame', '\xff'.repeat(64)],
    ['a frame that is no JSON', frame('nonsense\n')],
    ['a frame that is JSON of another kind', frame('[1]\n')],
    ['a frame for a thread that never was', frame('{"thread":4711,"news":{"kind":"exhausted"}}\n')],
    ['news of no known kind', frame('{"thread":1,"news":{"kind":"toString"}}\n')],
  ])('%s, forged on the channel of the process, ends the process alone', async (_attack, text) => {
    const before = await hostPid();
    const forged = { text: Buffer.from(text, 'latin1').toString('base64') };
    expect((await callTool(agent, 'forge', forged)).body.error).toMatchObject({ reason: 'WORKER_DIED' });
    expect(await hostPid()).not.toBe(before);
    await eventually(() => expect(isAlive(before)).toBe(false));
  });
});

describe('the process of the threads', () => {
  it('is not there before a handler is, and ends with the executor whatever its threads do', async () => {
    const dir = tempDir();
    const text = 'export const pid = () => process.pid; export const run = () => { while (true); };';
    writeFileSync(join(dir, 'handler.mjs'), text);
    const needs = javascriptNeeds({ workers: 1 });
    const spawn = vi.spyOn(needs.spawner, 'spawn');
    const executor = javascriptExecutor.create(needs);
    const prepare = (name: string) =>
      executor.prepare({
        function: functionOf({ baseDir: dir }),
        options: { handler: 'handler.mjs', export: name },
      });
    expect(spawn).not.toHaveBeenCalled();
    const pid = await prepare('pid');
    const { data } = await pid.execute(callOf({}), () => {});
    const running = Promise.allSettled([(await prepare('run')).execute(callOf({}), () => {})]);
    expect(isAlive(data as number)).toBe(true);
    await executor.close?.();
    expect(await running).toMatchObject([{ reason: { reason: 'EXECUTOR_CLOSED' } }]);
    expect(isAlive(data as number)).toBe(false);
    expect(spawn.mock.calls.map(([{ env }]) => Object.keys(env))).toEqual([['TZ'], ['TZ']]);
    removeDir(dir);
  });
});
