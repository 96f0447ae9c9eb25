// The size of /tmp of processes that stay in the sandbox, as operators set it: on both rungs, and by default.
import { afterEach, describe, expect, it } from 'vitest';
import { confiningSpawner, type ConfiningSpawner } from '../helpers/confining-spawner.ts';
import { RUNGS, type Rung } from '../helpers/rungs.ts';
import type { SandboxSettings } from '../../src/lib/sandbox-settings.ts';

const MIB = 1 << 20;
let spawner: ConfiningSpawner;
afterEach(() => spawner?.closeAll());

/**
 * What becomes of a program that writes so many MiB into its temporary folder and stays: `kept` where it could and is told to
 * end, `full` where it could not. Told nothing, as `over` is, it stays until it is ended.
 */
async function writing(mib: number, settings: Partial<SandboxSettings>, over = false): Promise<string> {
  spawner = confiningSpawner({ settings });
  // In many files: the size of one file has a limit of its own.
  const script = `cd "\${TMPDIR:-/tmp}"; n=0
    while [ $n -lt ${mib} ]; do head -c ${MIB} /dev/zero > f$n || { echo full; exit 0; }; n=$((n+1)); done
    read held; echo kept`;
  const child = await spawner.spawn({
    argv: ['/bin/sh', '-c', script],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    channel: false,
    stdin: true,
    // Where there are no namespaces they are counted for the user, and other suites start some, too.
    confinement: { readable: [], network: 'none', memoryBytes: 512 * MIB, maxProcesses: 1_000 },
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stderr.resume();
  if (!over) child.stdin?.end('\n');
  await child.exited;
  return said.trim() === '' ? 'ended' : said.trim();
}

/** Mounts are full; a folder that is watched has its program ended. */
const REFUSAL: { readonly [rung in Rung]: RegExp } = { bubblewrap: /^full$/, landlock: /^(?:full|ended)$/ };

describe.each(RUNGS)('on the rung %s', (rung, settings) => {
  it('is 64 MiB where nothing is said', async () => {
    expect(await writing(48, settings)).toBe('kept');
    await spawner.closeAll();
    expect(await writing(100, settings, true)).toMatch(REFUSAL[rung]);
  });

  it('is what executors.shell.tmp_bytes says', async () => {
    expect(await writing(100, { ...settings, tmp_bytes: 192 * MIB })).toBe('kept');
    await spawner.closeAll();
    expect(await writing(40, { ...settings, tmp_bytes: 8 * MIB }, true)).toMatch(REFUSAL[rung]);
  });
});
