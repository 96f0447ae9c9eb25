import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProgram } from './find-program.ts';

describe('a program', () => {
  it('is found at load by its absolute path', () => {
    expect(findProgram('ls', [], false)).toMatch(/^\/(usr\/)?bin\/ls$/);
    expect(findProgram('/bin/cat', [], false)).toBe('/bin/cat');
  });

  it.each(['no-such-program-here', './ls', 'a/b', '/etc/passwd', '/usr'])('%s is refused', (name) => {
    expect(() => findProgram(name, [], false)).toThrow(/there is no program/);
  });

  it.each(['sh', 'bash', '/bin/sh', 'env', 'xargs', 'find', 'sed', 'awk', 'perl', 'tar', 'timeout'])(
    '%s, whose arguments are programs, is for dangerous tools alone',
    (name) => {
      expect(() => findProgram(name, [], false)).toThrow(/is_dangerous: true/);
      expect(findProgram(name, [], true)).toContain('/');
    },
  );

  it('that is not in the sandbox is refused with what to do', () => {
    const dir = mkdtempSync(join(tmpdir(), 'ute-program-'));
    const program = join(dir, 'tool');
    try {
      writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
      expect(() => findProgram(program, [], false)).toThrow(/executors\.shell\.readable/);
      expect(findProgram(program, [dir], false)).toBe(program);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
