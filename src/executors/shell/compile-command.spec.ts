// Commands: how they are read at load, and that no argument ever becomes more than one argument.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../test/helpers/any-character.ts';
import type { JsonObject, JsonSchema } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { compileCommand, type CompiledCommand } from './compile-command.ts';
import { shellOptionsSchema, type CommandOptions } from './options-schema.ts';

type Said = JsonObject & { command: string | string[] };

function optionsOf(said: Said): CommandOptions {
  const { command = '', actions: _none, ...rest } = shellOptionsSchema.parse(said);
  return { command, ...rest };
}

const fill = (said: Said, args: JsonObject, schema: JsonSchema = {}) =>
  compileCommand(optionsOf(said), schema).fill(args);

function refusalOf(action: () => unknown): ToolFailure {
  try {
    action();
  } catch (error) {
    if (error instanceof ToolFailure) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** Undefined: refused, as arguments are. */
function argvOf(command: CompiledCommand, args: JsonObject): readonly string[] | undefined {
  try {
    return command.fill(args).argv;
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

describe('a command at load', () => {
  it('is split at blanks once; braces name arguments', () => {
    expect(fill({ command: 'rm  -f --\t{path}' }, { path: 'a b' }).argv).toEqual(['rm', '-f', '--', 'a b']);
    expect(fill({ command: ['printf', '{{"n":%s}}', '{n}'] }, { n: 1 }).argv).toEqual([
      'printf',
      '{"n":%s}',
      '1',
    ]);
  });

  it.each([
    'rm "{path}"',
    "echo 'x'",
    'cat a | tee b',
    'a; b',
    'a && b',
    'a > b',
    'echo $HOME',
    'echo `id`',
    'ls *',
    'a\\ b',
    'ls ~',
    'a\nb',
  ])('refuses the shell syntax of %j', (command) => {
    expect(() => fill({ command }, {})).toThrow(/means nothing without a shell/);
  });

  it.each([
    ['rm', '{dir}/'],
    ['rm', 'x{path}'],
    ['rm', '{a}{b}'],
    ['rm', '-{flag}'],
    ['rm', '/{path}'],
    ['x', '--f={a}b'],
  ])('refuses %j %j, a placeholder in the middle of an argument', (...command) => {
    expect(() => fill({ command }, {})).toThrow(/mixes a placeholder with text/);
  });

  it('refuses a program that an argument would choose', () => {
    expect(() => fill({ command: '{program} x' }, {})).toThrow(/must not hold a placeholder/);
  });

  it('takes text only where nothing reads it as an option', () => {
    const slots = { t: 'text' };
    expect(() => fill({ command: 'grep {t} file', slots }, {})).toThrow(/must stand behind/);
    expect(fill({ command: 'grep -- {t} file', slots }, { t: '-rf' }).argv[2]).toBe('-rf');
    expect(fill({ command: 'grep --regexp={t} file', slots }, { t: '-rf' }).argv[1]).toBe('--regexp=-rf');
  });
});

describe('arguments', () => {
  it('that are missing refuse the call, unless they stand in a flag of their own', () => {
    expect(refusalOf(() => fill({ command: 'rm {path}' }, {}))).toMatchObject({
      type: 'VALIDATION',
      reason: 'UNSAFE_ARGUMENT',
      details: { violations: [{ pointer: '/path', message: 'is missing' }] },
    });
    expect(fill({ command: 'ls --sort={by} .' }, { by: null }).argv).toEqual(['ls', '.']);
  });

  it.each(['-rf', '--no-preserve-root', '+x', '@file', '(1)', '', 'a\nb', 'a\0b', 'a\u001b[2J', '\ud800'])(
    'without a type refuse %j',
    (path) => {
      expect(refusalOf(() => fill({ command: 'rm {path}' }, { path })).reason).toBe('UNSAFE_ARGUMENT');
    },
  );

  it.each(['/etc/passwd', '..', '../x', 'a/../../b', 'a//b', './../x', '', '.', 'a\0', 'a\nb', 'x/..'])(
    'for a path refuse %j',
    (path) => {
      expect(refusalOf(() => fill({ command: 'cat {path}', slots: { path: 'path' } }, { path })).type).toBe(
        'VALIDATION',
      );
    },
  );

  it('for a path are written so that none is an option, and in one form of Unicode', () => {
    const command = { command: 'cat {path}', slots: { path: 'path' } };
    expect(fill(command, { path: '-rf' }).argv[1]).toBe('./-rf');
    expect(fill(command, { path: './a/b' }).argv[1]).toBe('./a/b');
    expect(fill(command, { path: 'e\u0301' }).argv[1]).toBe('./\u00e9');
  });

  it('follow the input schema where no type is said', () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' }, e: { enum: ['a', 'b'] } } };
    expect(fill({ command: 'head {n} {e}' }, { n: 3, e: 'a' }, schema).argv).toEqual(['head', '3', 'a']);
    expect(refusalOf(() => fill({ command: 'head {n} {e}' }, { n: -3, e: 'c' }, schema)).details).toEqual({
      violations: [
        { pointer: '/n', message: 'must be from 0 to the largest integer' },
        { pointer: '/e', message: 'must be one of a, b' },
      ],
    });
  });

  it('that are integers of 64 bits keep their digits', () => {
    const schema = { type: 'object', properties: { n: { type: 'integer', format: 'int64' } } };
    const argvFor = (n: string | number) => fill({ command: 'echo -- {n}' }, { n }, schema).argv[2];
    expect(['9007199254740993', '9223372036854775807', '-9223372036854775808', 5].map(argvFor)).toEqual([
      '9007199254740993',
      '9223372036854775807',
      '-9223372036854775808',
      '5',
    ]);
    for (const n of ['9223372036854775808', '1e3', '+5', '0x10', '-9007199254740993']) {
      expect(refusalOf(() => fill({ command: 'echo {n}' }, { n }, schema)).reason).toBe('UNSAFE_ARGUMENT');
    }
  });

  it('that are wrong in several places are told once', () => {
    const said = { command: 'cp {path} --to={path}', slots: { path: 'path' } };
    expect(refusalOf(() => fill(said, { path: '../x' })).details).toEqual({
      violations: [{ pointer: '/path', message: 'must not be empty or hold "..", "." or "//"' }],
    });
  });

  it.each(['file:///etc/passwd', 'http://user:pw@host/', 'javascript:x', 'x', 'http://a b\n'])(
    'for a url refuse %j',
    (url) => {
      expect(refusalOf(() => fill({ command: 'x {url}', slots: { url: 'url' } }, { url })).type).toBe(
        'VALIDATION',
      );
    },
  );

  it('that are lists or objects are refused: one placeholder is one argument', () => {
    for (const path of [['a', 'b'], { a: 1 }]) {
      expect(refusalOf(() => fill({ command: 'rm -- {path}' }, { path })).type).toBe('VALIDATION');
    }
  });

  it('that are too long are refused before the kernel would', () => {
    expect(refusalOf(() => fill({ command: 'echo -- {t}' }, { t: 'x'.repeat(32_769) })).type).toBe(
      'VALIDATION',
    );
    const many = { command: ['echo', '--', '{a}', '{b}', '{c}'] };
    const args = { a: 'x'.repeat(30_000), b: 'x'.repeat(30_000), c: 'x'.repeat(30_000) };
    expect(refusalOf(() => fill(many, args)).type).toBe('PAYLOAD_TOO_LARGE');
  });

  it('of any kind give exactly as many arguments as the operator wrote, with the literals in their places', () => {
    const words = ['prog', '-x', '{a}', '--flag={b}', '--', '{c}', 'end'];
    const command = compileCommand(optionsOf({ command: words, slots: { b: 'text', c: 'text' } }), {});
    const text = fc.string({ unit: anyCharacter });
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        const argv = argvOf(command, { a, b, c });
        const whole = ['prog', '-x', a, `--flag=${b}`, '--', c, 'end'];
        expect(argv ?? whole).toEqual(whole);
        expect(argv !== undefined && /^$|^[-+@(]|[\x00-\x1f\x7f]/.test(a)).toBe(false);
        expect(argv !== undefined && `${b}${c}`.includes('\0')).toBe(false);
      }),
    );
  });
});

it('files in and out stay in the workspace', () => {
  const said = {
    command: 'wc',
    files: [{ path: '{name}', content: 'x {text}' }],
    collect: ['out.txt', '{name}'],
  };
  const filled = fill(said, { name: './a/b', text: { k: 1 } });
  expect(filled.files.map(({ path, content }) => [path, content.toString()])).toEqual([['a/b', 'x {"k":1}']]);
  expect(filled.collect).toEqual(['out.txt', 'a/b']);
  expect(refusalOf(() => fill(said, { name: '../x', text: '' })).type).toBe('VALIDATION');
  expect(() => fill({ command: 'wc', collect: ['../x'] }, {})).toThrow(/below the workspace/);
  expect(() => fill({ command: 'wc', collect: ['a/{x}'] }, {})).toThrow(/below the workspace/);
});
