// Splitting cuts whole items, and leaves alone what it cannot be sure of.
import { describe, expect, it } from 'vitest';
import { splitTools } from './split-tools.ts';

describe('splitTools', () => {
  it('cuts whole items out and leaves the rest where it was', () => {
    const split = splitTools('a: 1\ntools:\n  # first\n  - x: |\n      - y\n  - z\nb: 2\n');
    expect(split?.pieces).toEqual([
      { text: '  - x: |\n      - y\n', linesBefore: 3 },
      { text: '  - z\n', linesBefore: 5 },
    ]);
    expect(split).toMatchObject({
      skeleton: 'a: 1\ntools:\n  # first\nb: 2\n',
      keyOffset: 5,
      gapAt: 3,
      gapLines: 3,
    });
  });

  it('leaves comments between items out of them, so that editing one changes no tool', () => {
    const split = splitTools('tools:\n- a: |+\n    text\n\n# about b\n\n- b\n# the end\n');
    expect(split?.pieces.map(({ text }) => text)).toEqual(['- a: |+\n    text\n\n', '- b\n']);
  });

  it.each([
    ['a directive', '%YAML 1.2\n---\ntools:\n- a\n'],
    ['a second document', 'tools:\n- a\n---\nb: 1\n'],
    ['a tab as indentation', 'tools:\n\t- a\n'],
    ['a stray carriage return', 'tools:\n- a\r- b\n'],
    ['flow style', 'tools: [a]\n'],
    ['an anchor on the list', 'tools: &t\n- a\n'],
    ['a line between the columns', 'tools:\n    - a\n  b: 1\n'],
    ['a key in the column of the dashes', 'tools:\n  - a\n  b: 1\n'],
    ['no list', 'tools:\nb: 1\n'],
  ])('leaves %s to the whole parse', (_what, text) => {
    expect(splitTools(text)).toBeUndefined();
  });
});
