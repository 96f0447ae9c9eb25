// What the log keeps when its process ends: by itself, by process.exit, or by an error nobody caught.
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const MODULE = new URL('../../src/infra/telemetry/json-log.ts', import.meta.url).href;

describe('JsonLog on stdout', () => {
  it.each([1, 16, 3000])('keeps %i lines of one turn when its process exits at once', (count) => {
    const script = `for (let i = 0; i < ${count}; i += 1) log.info({ i }, 'line'); process.exit(0);`;
    expect(linesOf(script)).toEqual(Array.from({ length: count }, (_line, i) => i));
  });

  it('keeps them, and a write that has begun, where each character is three bytes', () => {
    const script = `for (let i = 0; i < 900; i += 1) log.info({ i, text: '\u6f22'.repeat(60) }, 'line');
      setImmediate(() => setImmediate(() => process.exit(0)));`;
    // In any order: a write that a busy machine has held up for long is overtaken by what is written at exit.
    expect(linesOf(script).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 900 }, (_line, i) => i));
  });

  it('keeps the lines of every log there is', () => {
    const script = `const other = JsonLog.create({ level: 'info' });
      log.info({ i: 1 }, 'line'); other.info({ i: 2 }, 'line'); log.info({ i: 3 }, 'line'); process.exit(0);`;
    expect(linesOf(script).toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  });

  it.each([
    { how: 'by itself', end: '' },
    { how: 'by process.exit', end: 'process.exit(0);' },
    { how: 'by an error nobody caught', end: 'setTimeout(() => { throw new Error("crash"); }, 1);' },
  ])('has written every line when its process ends $how', ({ end }) => {
    expect(linesOf(`for (let i = 0; i < 3; i += 1) log.info({ i }, 'line'); ${end}`)).toEqual([0, 1, 2]);
  });

  it('writes a lonely line after a moment, without being told', () => {
    const killed = `log.info({ i: 7 }, 'line'); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1000);`;
    expect(linesOf(killed)).toEqual([7]);
  });

  it('has written what was logged before once flush resolves', () => {
    const killed = `log.info({ i: 9 }, 'line'); await log.flush(); process.kill(process.pid, 'SIGKILL');`;
    expect(linesOf(killed)).toEqual([9]);
  });
});

/** Runs the script with a `log` on stdout; the numbers it logged. */
function linesOf(script: string): number[] {
  const source = `import { JsonLog } from ${JSON.stringify(MODULE)};
    const log = JsonLog.create({ level: 'info' });
    ${script}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
    encoding: 'utf8',
  });
  const lines = stdout.split('\n').filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { i: number }).i);
}
