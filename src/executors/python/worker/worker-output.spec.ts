import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { settled } from '../../../../test/helpers/fake-clock.ts';
import { CallOutput, WorkerOutput } from './worker-output.ts';

function setUp() {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const lines: string[] = [];
  let floods = 0;
  const output = new CallOutput((level, line) => void lines.push(`${level}: ${line}`));
  const worker = new WorkerOutput(
    stdout,
    stderr,
    () => output,
    () => void floods++,
  );
  return { stdout, stderr, lines, output, worker, floods: () => floods };
}

describe('worker output', () => {
  it('becomes lines, however it was cut, also in the middle of a character', async () => {
    const { stdout, stderr, lines, output } = setUp();
    const bytes = Buffer.from('grüße\r\n\nsecond');
    for (const byte of bytes) stdout.write(Buffer.of(byte));
    stderr.write('trouble\n');
    await settled();
    output.flush();
    expect(lines.sort()).toEqual(['info: grüße', 'info: second', 'warn: trouble']);
  });

  it('is cut at its allowance, and says so', async () => {
    const { stdout, lines } = setUp();
    stdout.write(`${'x'.repeat(70_000)}\nnever seen\n`);
    await settled();
    expect(lines.map((line) => line.length)).toEqual([6 + 65_536, expect.any(Number)]);
    expect(lines[1]).toContain('truncated after 65536 bytes');
  });

  it('tells which line goes on and was cut', async () => {
    const cut: boolean[] = [];
    const output = new CallOutput((_level, _line, isCut) => void cut.push(isCut));
    output.push('info', Buffer.from('whole\n'));
    output.push('warn', Buffer.from('other'));
    output.push('info', Buffer.alloc(70_000, 'x'));
    expect(cut).toEqual([false, true, false, false]);
  });

  it('that reaches the allowance to the byte is not called truncated; one byte more is', async () => {
    const { stdout, lines } = setUp();
    stdout.write(`${'x'.repeat(65_535)}\n`);
    await settled();
    expect(lines).toHaveLength(1);
    stdout.write('y');
    await settled();
    expect(lines[1]).toContain('truncated');
    stdout.write('z');
    await settled();
    expect(lines).toHaveLength(2);
  });

  it('without end is a flood', async () => {
    const { stdout, worker, floods } = setUp();
    const chunk = Buffer.alloc(1024 * 1024);
    for (let i = 0; i < 64; i++) stdout.write(chunk);
    await settled();
    expect(floods()).toBe(0);
    worker.begin();
    stdout.write('one more');
    await settled();
    expect(floods()).toBe(0);
    for (let i = 0; i < 64; i++) stdout.write(chunk);
    await settled();
    expect(floods()).toBe(1);
  });
});
