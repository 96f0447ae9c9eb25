import * as fc from 'fast-check';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { targetOf } from '../../../test/helpers/python-ports.ts';
import type { JsonObject } from '../../contract/json.ts';
import { checkCodeArguments, checkCodeTool, Printed } from './code-tool.ts';

const code = { type: 'string' };
const check = (inputSchema: JsonObject, isDangerous = true) =>
  checkCodeTool(targetOf({ code: true }, { inputSchema, isDangerous }).function, { code: true }, 'preferred');

describe('a tool that runs code', () => {
  it('takes `code`, and `files` at most', () => {
    const files = { type: 'object' };
    expect(() => check({ properties: { code, files }, required: ['code'] })).not.toThrow();
    expect(() => check({ properties: { files }, required: ['code'] })).toThrow(
      /property `code` of type string/,
    );
    expect(() => check({ properties: { code } })).toThrow(/must require `code`/);
    expect(() => check({ properties: { code, timeout: {} }, required: ['code'] })).toThrow(
      /property timeout/,
    );
  });

  it('is said to be dangerous, or meant', () => {
    expect(() => check({ properties: { code }, required: ['code'] }, false)).toThrow(/is_dangerous/);
  });

  it('writes no file outside its folder, whatever the name', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[./a]{1,12}$/)), (name) => {
        let taken = true;
        try {
          checkCodeArguments({ code: '', files: { [name]: '' } });
        } catch {
          taken = false;
        }
        const place = posix.resolve('/work', name);
        expect(!taken || (place.startsWith('/work/') && place === `/work/${name}`)).toBe(true);
      }),
    );
  });

  it('takes no file that is the folder of another, and none whose name a file system does not take', () => {
    for (const names of [['a', 'a/b'], ['a/b/c', 'a/b'], ['é'.repeat(128)], [`x/${'é'.repeat(128)}`]]) {
      const files = Object.fromEntries(names.map((name) => [name, '']));
      expect(() => checkCodeArguments({ code: '', files })).toThrow('The argument files has a name');
    }
    checkCodeArguments({ code: '', files: { a: '', 'a.txt': '', 'b/a': '', 'b/a.txt': '', é: '' } });
  });

  it.each<JsonObject>([{ code: 1 }, { code: '', files: [] }, { code: '', files: { a: 1 } }])(
    'refuses %j',
    (args) => {
      expect(() => checkCodeArguments(args)).toThrow(/^The argument (code|files) /);
    },
  );

  it('keeps 64 KiB of what was printed', () => {
    const printed = new Printed();
    printed.add('info', Buffer.from('out'));
    printed.add('warn', Buffer.alloc(70_000, 'e'));
    printed.add('info', Buffer.from('more'));
    const result = printed.resultOf({ result: 1 });
    expect(result).toMatchObject({
      stdout: 'out',
      output_truncated: true,
      result: 1,
      error: null,
      files: {},
    });
    expect(result['stderr']).toHaveLength(65_533);
  });
});
