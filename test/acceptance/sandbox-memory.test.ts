// Memory against who asks for more than the limit by ways that limits of a process do not see, with and without cgroups.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProcessExit } from '../../src/ports/egress/process-spawner.ts';
import { RUNGS } from '../helpers/rungs.ts';
import { MIB, SandboxBench, textOf } from '../helpers/sandbox.ts';
import { SYSCALL_PRELUDE } from '../helpers/syscall-prelude.ts';

const LIMIT = 128 * MIB;

/** Each takes four times the limit and says so; or says what it was told. */
const WAYS = {
  'private memory': 'b = bytearray(512 << 20)',
  'shared memory behind no file': `
import mmap
m = mmap.mmap(-1, 512 << 20)
for at in range(0, 512 << 20, 4096): m[at] = 1`,
  'many small shared pieces': `
import mmap
pieces = [mmap.mmap(-1, 1 << 20) for _ in range(512)]
for piece in pieces:
    for at in range(0, 1 << 20, 4096): piece[at] = 1`,
  'a shared mapping of /dev/zero': `
import mmap
m = mmap.mmap(os.open("/dev/zero", os.O_RDWR), 512 << 20)
for at in range(0, 512 << 20, 4096): m[at] = 1`,
  'files in memory without a name': `
fds = []
for _ in range(64):
    fd = call("memfd_create", b"x", 0)
    if isinstance(fd, str): raise OSError(fd)
    fds.append(fd)
    for _ in range(8): os.write(fd, b"x" * (1 << 20))`,
} as const;

const scriptOf = (body: string) => `${SYSCALL_PRELUDE}
try:
    exec(${JSON.stringify(body)})
    print("all of it")
except (OSError, MemoryError) as error:
    print("refused", error)
`;

describe.each(RUNGS)('on the rung %s', (_rung, settings) => {
  describe.each([
    ['with cgroups where they can be had', true],
    ['without cgroups', false],
  ])('%s', (_how, cgroups) => {
    let bench: SandboxBench;
    beforeAll(() => {
      bench = new SandboxBench({ ...settings, cgroups });
    });
    afterAll(() => bench.close());

    it.each(Object.entries(WAYS))('a command does not get %s beyond its limit', async (_name, body) => {
      const outcome = await bench.python(scriptOf(body), { limits: { memoryBytes: LIMIT } });
      expect(textOf(outcome).out).not.toContain('all of it');
    });

    it.each(Object.entries(WAYS))(
      'a process that stays does not get %s beyond its limit',
      async (_name, body) => {
        const { out } = await staying(bench, scriptOf(body));
        expect(out).not.toContain('all of it');
      },
    );

    it('zeros are still read from /dev/zero by commands', async () => {
      expect(textOf(await bench.shell('head -c 3 /dev/zero | od -An -tx1')).out).toBe(' 00 00 00\n');
    });
  });
});

async function staying(bench: SandboxBench, script: string): Promise<{ out: string; exit: ProcessExit }> {
  const child = await bench.spawner.spawn({
    argv: ['/usr/bin/python3', '-I', '-S', '-c', script],
    cwd: '/',
    env: {},
    channel: false,
    confinement: { readable: [], network: 'none', memoryBytes: LIMIT, maxProcesses: 16 },
  });
  let out = '';
  child.stderr.resume();
  for await (const chunk of child.stdout) out += String(chunk);
  return { out, exit: await child.exited };
}
