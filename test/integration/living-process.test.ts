// Whether a process is living: one that was killed is not, though nobody has asked for its end yet and its number is taken.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { isLiving, startOfProcess } from '../../src/infra/process/living-process.ts';

const LEAVES_A_ZOMBIE = `
import os, sys
child = os.fork()
if child == 0:
    os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
print(child, flush=True)
sys.stdin.read()
`;

it('a process that has ended holds nothing, before its parent knows', async () => {
  const parent = spawn('python3', ['-c', LEAVES_A_ZOMBIE], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const zombie = Number(line.toString());
    expect(() => process.kill(zombie, 0)).not.toThrow();
    expect(isLiving(zombie, startOfProcess(zombie))).toBe(false);
    expect(isLiving(parent.pid ?? 0, startOfProcess(parent.pid ?? 0))).toBe(true);
  } finally {
    parent.stdin.end();
    await once(parent, 'close');
  }
});
