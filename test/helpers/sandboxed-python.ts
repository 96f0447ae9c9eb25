// Hostile Python in the sandbox, and the processes that it may leave on the machine.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { textOf, type RunExtras, type SandboxBench } from './sandbox.ts';
import { SYSCALL_PRELUDE } from './syscall-prelude.ts';

export async function python(bench: SandboxBench, body: string, extras: RunExtras = {}): Promise<string> {
  const outcome = await bench.python(SYSCALL_PRELUDE + body, extras);
  const { out, err } = textOf(outcome);
  expect({ ended: outcome.ended, err }).toEqual({ ended: 'exited', err: '' });
  return out.trim();
}

export const pythonJson = async (bench: SandboxBench, expression: string): Promise<unknown> =>
  JSON.parse(await python(bench, `print(json.dumps(${expression}))`)) as unknown;

/** A number of seconds that nothing else on the machine sleeps. */
let nextMark = 0;
export const newMark = () => `${700_000 + (process.pid % 10_000) * 10 + (nextMark += 1)}.5`;

export const sleepers = (mark: string) =>
  readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(mark);
    } catch {
      return false;
    }
  });
