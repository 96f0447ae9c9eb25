// Specs of the memory of threads, in processes that are started as a gateway is.
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const MODULE = JSON.stringify(new URL('thread-memory.ts', import.meta.url).href);
/** Prints the limits of the heap of a thread that has one of its own, and of the main thread at first and at the end. */
const PROGRAM = `
  import { Worker } from 'node:worker_threads';
  import { getHeapStatistics } from 'node:v8';
  const ownLimit = () => getHeapStatistics().heap_size_limit;
  const atFirst = ownLimit();
  if (process.env.LEAVE === 'yes') (await import(${MODULE})).leaveThreadsTheirLimits();
  const code = "require('worker_threads').parentPort.postMessage(require('v8').getHeapStatistics().heap_size_limit)";
  const resourceLimits = { maxOldGenerationSizeMb: 100, maxYoungGenerationSizeMb: 16 };
  new Worker(code, { eval: true, execArgv: [], resourceLimits }).on('message', (thread) =>
    console.log(JSON.stringify({ thread, atFirst, atLast: ownLimit() })),
  );
`;

interface Limits {
  readonly thread: number;
  readonly atFirst: number;
  readonly atLast: number;
}

function limitsWith(flags: readonly string[], leave: 'yes' | 'no'): Limits {
  const args = [...flags, '--input-type=module', '-e', PROGRAM];
  const env = { ...process.env, LEAVE: leave, NODE_OPTIONS: '' };
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' })) as Limits;
}

describe('memory of threads', { timeout: 60_000 }, () => {
  /** More than V8 gives any thread by itself. */
  const FLAG = '--max-semi-space-size=128';

  it('is what a thread is started with, and the main thread keeps what the start command says', () => {
    const usual = limitsWith([], 'no');
    const left = limitsWith([FLAG], 'yes');
    expect(left.thread).toBe(usual.thread);
    expect(left.atFirst).toBeGreaterThan(usual.atFirst);
    expect(left.atLast).toBe(left.atFirst);
  });

  it('would otherwise be that of the start command', () => {
    expect(limitsWith([FLAG], 'no').thread).toBeGreaterThan(limitsWith([], 'no').thread);
  });
});
