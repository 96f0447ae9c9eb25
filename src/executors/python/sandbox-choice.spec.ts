// Whether Python runs without a sandbox is settled once, at boot, and never as root.
import { describe, expect, it } from 'vitest';
import { RecordingLog } from '../../../test/helpers/python-ports.ts';
import type { SandboxReport } from '../../ports/egress/sandbox.ts';
import { SandboxChoice } from './sandbox-choice.ts';
import type { SandboxWish } from './settings.ts';

const HERE: SandboxReport = {
  backend: 'bwrap-full',
  memoryLimit: 'rlimit',
  processLimit: 'rlimit',
  refused: [],
  warnings: [],
};
const NONE: SandboxReport = { ...HERE, backend: 'none' };

function setUp(wish: SandboxWish, first: SandboxReport | Error, isRoot = false) {
  const log = new RecordingLog();
  const machine = { now: first };
  const sandbox = {
    async describe() {
      if (machine.now instanceof Error) throw machine.now;
      return machine.now;
    },
  };
  return { choice: new SandboxChoice(wish, { sandbox, log, isRoot }), machine, log };
}

describe('whether Python runs in the sandbox', () => {
  it('as root, "preferred" is refused at boot, with what to set instead', () => {
    expect(() => setUp('preferred', HERE, true)).toThrow(
      /executors\.python\.sandbox: "preferred" is refused .* root.* Set "required"/,
    );
    expect(() => setUp('required', HERE, true)).not.toThrow();
  });

  it('a sandbox that goes away after the start never lets "preferred" run without one', async () => {
    const { choice, machine } = setUp('preferred', HERE);
    expect(await choice.confines(false)).toBe(true);
    machine.now = NONE;
    expect(await choice.confines(false)).toBe(true);
    await expect(choice.walls(false)).rejects.toMatchObject({ reason: 'SANDBOX_UNAVAILABLE' });
    expect(choice.status).toEqual({ sandbox: 'preferred', runs_without_sandbox: false });
  });

  it('without one at the start, "preferred" runs without, says so, and stays with it', async () => {
    const { choice, machine, log } = setUp('preferred', NONE);
    expect(await choice.walls(false)).toBe('none');
    machine.now = HERE;
    expect(await choice.walls(false)).toBe('none');
    expect(choice.status).toEqual({ sandbox: 'preferred', runs_without_sandbox: true });
    expect(log.lines).toMatchObject([{ level: 'warn', message: expect.stringMatching(/without a sandbox/) }]);
  });

  it.each([
    ['was short of disk or memory', { ...NONE, shortage: 'the disk is full' }],
    ['failed to look', new Error('EACCES')],
  ])('a machine that %s at the start is no machine without a sandbox', async (_why, report) => {
    const { choice } = setUp('preferred', report);
    expect(await choice.confines(false)).toBe(true);
    expect(choice.status).toEqual({ sandbox: 'preferred', runs_without_sandbox: false });
  });

  it('what cannot do without the sandbox never does', async () => {
    for (const wish of ['off', 'preferred'] as const) {
      const { choice } = setUp(wish, NONE);
      await expect(choice.walls(true)).rejects.toMatchObject({
        reason: 'SANDBOX_UNAVAILABLE',
        retryable: false,
      });
    }
  });

  it('a refusal says what to install and what to set', async () => {
    const { choice } = setUp('required', NONE);
    await expect(choice.walls(false)).rejects.toThrow(/apt-get install bubblewrap.*sandbox: "off"/);
  });
});
