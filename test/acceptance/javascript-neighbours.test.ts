// JavaScript handlers that block, kill and multiply, beside calls of another tenant, which notice nothing of it.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolFailure } from '../../src/contract/tool-failure.ts';
import type { ToolCall } from '../../src/contract/tool-call.ts';
import { javascriptExecutor } from '../../src/executors/javascript/index.ts';
import { callOf, functionOf, principalOf } from '../helpers/call-kit.ts';
import { javascriptNeeds } from '../helpers/javascript-kit.ts';
import { eventually } from '../helpers/python-ports.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const HANDLERS = `
import { Worker } from 'node:worker_threads';
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
`;

describe('beside another tenant’s calls', () => {
  let dir: string;
  let close: () => Promise<void> = async () => {};

  beforeEach(() => {
    dir = tempDir();
    writeFileSync(join(dir, 'handler.mjs'), HANDLERS);
  });
  afterEach(async () => {
    await close();
    removeDir(dir);
  });

  function startExecutor() {
    const executor = javascriptExecutor.create(javascriptNeeds({ workers: 2 }));
    close = async () => executor.close?.();
    return async (name: string) => {
      const options = { handler: 'handler.mjs', export: name };
      const prepared = await executor.prepare({ function: functionOf({ baseDir: dir }), options });
      return async (tenantId: string, changes: Partial<ToolCall> = {}) => {
        const principal = principalOf({ tenantId });
        return (await prepared.execute(callOf({ principal, ...changes }), () => {})).data;
      };
    };
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
      await eventually(() => threads() <= before + 4, 'the threads of five calls are gone', 15_000);
      expect(await pid('greedy')).toBe(host);
    },
  );
});
