// A table of what comes from elsewhere: a reader sees what is there, and nothing else.
import { describe, expect, it } from 'vitest';
import { table } from './table.ts';

describe('a cell', () => {
  it.each([
    ['what turns the direction', 'key\u202egpj.exe', 'key\\u{202e}gpj.exe'],
    ['what has no width', 'ad\u200bmin', 'ad\\u{200b}min'],
    ['tags', 'a\u{e0041}', 'a\\u{e0041}'],
    ['controls, as blanks', 'a\u001b[31m\tb\nc\u009b', 'a [31m b c'],
  ])('shows %s', (_what, cell, shown) => {
    expect(table(['NAME'], [[cell]])).toBe(`NAME\n${shown}\n`);
  });

  it('is cut where it is long, between characters, so that the columns behind it stay in sight', () => {
    const rows = [
      ['\u{1f600}'.repeat(61), 'x'],
      ['b'.repeat(60), 'y'],
    ];
    expect(table(['NAME', 'STATE'], rows).split('\n').slice(1, 3)).toEqual([
      `${'\u{1f600}'.repeat(59)}…  x`,
      `${'b'.repeat(60)}${' '.repeat(61)}y`,
    ]);
  });
});
