// The sandbox against who wants to use everything up, on every rung that is here.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUBBLEWRAP, RUNGS } from '../helpers/rungs.ts';
import { keptAs, MIB, SandboxBench, textOf } from '../helpers/sandbox.ts';
import { newMark, python, pythonJson, sleepers } from '../helpers/sandboxed-python.ts';

/** Under landlock the kernel counts what others of the user have started or ended meanwhile as well. */
const CHILDREN = { bubblewrap: [10, 19], landlock: [1, 200] } as const;

describe.each(RUNGS)('using everything up, on the rung %s', (rung, settings) => {
  let bench: SandboxBench;
  beforeAll(() => void (bench = new SandboxBench(settings)));
  afterAll(() => bench.close());

  it('a fork bomb stops at the limit, and is gone afterwards', async () => {
    const mark = newMark();
    const out = await python(
      bench,
      `
children = 0
try:
    while children < 10000:
        if os.fork() == 0:
            os.execv("/bin/sleep", ["sleep", "${mark}"])
        children += 1
except OSError as error:
    print(children, errno.errorcode[error.errno])`,
      { limits: { maxProcesses: 20 } },
    );
    const [children, error] = out.split(' ');
    const [fewest, most] = CHILDREN[rung];
    expect(error).toBe('EAGAIN');
    expect(Number(children)).toBeGreaterThanOrEqual(fewest);
    expect(Number(children)).toBeLessThanOrEqual(most);
    expect(sleepers(mark)).toEqual([]);
  });

  it('memory beyond the limit is not given', async () => {
    const outcome = await bench.python('b = bytearray(600 << 20); print(len(b))', {
      limits: { memoryBytes: 128 * MIB },
    });
    expect(textOf(outcome).out).toBe('');
    expect(outcome.exitCode).not.toBe(0);
  });

  it('memory shared by no file counts too', async () => {
    const script =
      'import mmap\nm = mmap.mmap(-1, 600 << 20)\nfor i in range(0, 600 << 20, 4096): m[i] = 1\nprint("all")';
    const outcome = await bench.python(script, { limits: { memoryBytes: 128 * MIB } });
    expect(textOf(outcome).out).toBe('');
  });

  it('no file grows beyond its limit, in a kept workspace either', async () => {
    const outcome = await bench.shell('head -c 10000000 /dev/zero > big; stat -c %s big', {
      workspace: keptAs('big'),
      limits: { fileBytes: MIB },
    });
    expect(Number(textOf(outcome).out)).toBeLessThanOrEqual(MIB);
  });

  it('endless output is cut at its limit', async () => {
    const outcome = await bench.run(['/usr/bin/yes'], { limits: { outputBytes: 100_000 } });
    expect({ ended: outcome.ended, bytes: outcome.stdout.length }).toEqual({
      ended: 'output_limit',
      bytes: 100_000,
    });
  });

  it('two streams share one limit', async () => {
    const outcome = await bench.shell('yes & yes >&2', { limits: { outputBytes: 100_000 } });
    expect(outcome.ended).toBe('output_limit');
    expect(outcome.stdout.length + outcome.stderr.length).toBe(100_000);
  });

  it.each([
    ['sleeps', 'sleep 600'],
    ['has closed its output', 'exec >&- 2>&- <&-; sleep 600'],
    ['has stopped itself', 'kill -STOP $$; sleep 600'],
    ['ignores every signal it can', "trap '' TERM INT HUP QUIT; while true; do sleep 1; done"],
    ['has left daemons that hold its output', '(setsid sleep 600 &); (setsid sleep 600 &); sleep 600'],
  ])('who %s is ended at its time', async (_name, script) => {
    const { ended } = await bench.shell(script, { limits: { wallMs: 300 } });
    expect(ended).toBe('timeout');
  });

  it('a loop ends at its processor time', async () => {
    const outcome = await bench.python('while True: pass', { limits: { cpuSeconds: 1, wallMs: 60_000 } });
    expect(outcome).toMatchObject({ ended: 'exited' });
    expect(outcome.exitCode).toBeGreaterThanOrEqual(137);
  });

  it('descriptors run out for the program alone', async () => {
    const count = await pythonJson(
      bench,
      '(lambda fs: [fs.append(tried(lambda: os.open("/dev/null", 0))) for _ in range(1000)] and sum(isinstance(f, int) for f in fs))([])',
    );
    expect(count).toBeLessThan(256);
  });

  it('a call that is given up is given up at once, and leaves nobody', async () => {
    const mark = newMark();
    const caller = new AbortController();
    const onOutput = () => caller.abort(new Error('the caller has gone'));
    const run = bench.shell(`(setsid sleep ${mark} &); echo up; sleep ${mark}`, {
      signal: caller.signal,
      onOutput,
    });
    await expect(run).rejects.toThrow('the caller has gone');
    expect(sleepers(mark)).toEqual([]);
  });
});

describe.each(BUBBLEWRAP)('using everything up, on the rung %s alone', (_rung, settings) => {
  let bench: SandboxBench;
  beforeAll(() => void (bench = new SandboxBench(settings)));
  afterAll(() => bench.close());

  it.each([
    ['/workspace', 4 * MIB, 4],
    ['/tmp', 4 * MIB, 4],
    ['/dev/shm', 16 * MIB, 1],
  ])('%s holds no more than its size', async (place, workspaceBytes, mib) => {
    const { out, err } = textOf(
      await bench.shell(
        `for i in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero > ${place}/$i || break; done; du -sm ${place} | cut -f1`,
        {
          limits: { workspaceBytes },
        },
      ),
    );
    expect(err).toContain('No space left');
    expect(Number(out)).toBeLessThanOrEqual(mib);
  });
});
