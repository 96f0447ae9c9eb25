// Python that stands in the declaration: whatever the arguments say, they are one text to it.
import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { functionOf } from '../../../test/helpers/call-kit.ts';
import type { JsonObject } from '../../contract/json.ts';
import { optionsSchema } from './options.ts';
import { checkSourceTool, sourceCall, sourceResult } from './source-tool.ts';

describe('arguments', () => {
  it('are what they were in Python, and no code', () => {
    const given = fc.sample(
      fc.dictionary(
        fc.string({ unit: 'binary' }),
        fc.json().map((text) => JSON.parse(text) as never),
      ),
      200,
    );
    const hostile = [
      '")); import os; os.abort() #',
      "'''",
      '"""',
      '\\',
      '\\"',
      '\r\n',
      '\u2028',
      '\ud800',
      '\0',
      '{}',
      '${x}',
    ];
    const all: JsonObject[] = [
      ...given.map((args) => ({ args })),
      ...hostile.map((text) => ({ args: text, [text]: text })),
    ];
    const source = 'def execute(**given):\n    return given';
    const program = all
      .map((args) => `print(${sourceCall('', args).trim().replace('execute(**', 'dict(**')})`)
      .join('\n');
    const run = spawnSync('python3', ['-c', 'import sys; exec(sys.stdin.read())'], {
      input: program,
      encoding: 'utf8',
    });
    expect(run.stderr).toBe('');
    const lines = run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual(all.map((args) => JSON.parse(JSON.stringify(args)) as unknown));
    expect(sourceCall(source, {}).startsWith(source)).toBe(true);
  });
});

describe('a result', () => {
  it('is the value that was returned', () => {
    expect(sourceResult({ result: '{"a": [1, "ä"]}', error: null })).toEqual({ a: [1, 'ä'] });
    expect(sourceResult({ result: 'null', error: null })).toBe(null);
  });

  it.each([
    [{ result: null, error: 'ValueError: secret' }, 'PERMANENT', 'EXCEPTION'],
    [{ result: null, error: null }, 'PERMANENT', 'EXCEPTION'],
    [{ result: '"cut off by the work', error: null }, 'OUTPUT_TOO_LARGE', 'OUTPUT_TOO_LARGE'],
    [{ result: '9007199254740993', error: null }, 'OUTPUT_INVALID', 'UNSAFE_NUMBER'],
    [{ result: `${'['.repeat(100)}${']'.repeat(100)}`, error: null }, 'OUTPUT_TOO_LARGE', 'OUTPUT_TOO_LARGE'],
  ])('that is none (%j) is %s, and tells nothing of its cause', (said, type, reason) => {
    let thrown: unknown;
    try {
      sourceResult(said);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ type, reason });
    expect((thrown as Error).message).not.toContain('secret');
  });
});

describe('a declaration', () => {
  it.each([
    [{ source: 'x', module: 'a' }],
    [{ source: 'x', code: true }],
    [{ source: 'x', pure: true }],
    [{ source: 'x', function_name: 'a' }],
    [{ source: '' }],
    [{ source: 'x'.repeat(128 * 1024 + 1) }],
  ])('with %j is refused', (options) => {
    expect(optionsSchema.safeParse(options).success).toBe(false);
  });

  it('is refused where there is to be no sandbox', () => {
    expect(optionsSchema.safeParse({ source: 'def execute(): pass' }).success).toBe(true);
    expect(() => checkSourceTool(functionOf(), 'off')).toThrow('in the sandbox only');
    expect(() => checkSourceTool(functionOf(), 'required')).not.toThrow();
  });
});
