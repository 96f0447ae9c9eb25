// What a call prints: whole lines, both streams apart, and an end to it.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrintedText } from './printed-text.ts';

function recorded() {
  const lines: [string, string][] = [];
  return { lines, text: new PrintedText((level, line) => lines.push([level, line])) };
}

describe('PrintedText', () => {
  it('passes on whole lines, however they were cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 20 }), { maxLength: 20 }), (pieces) => {
        const { lines, text } = recorded();
        for (const piece of pieces) text.push('info', piece);
        text.flush();
        const expected = pieces.join('').split('\n').map((line) => line.trimEnd()).filter((line) => line !== ''); // oxfmt-ignore
        expect(lines).toEqual(expected.map((line) => ['info', line]));
      }),
    );
  });

  it('keeps the streams apart', () => {
    const { lines, text } = recorded();
    text.push('info', 'o');
    text.push('warn', 'err\n');
    text.push('info', 'ut\n');
    expect(lines).toEqual([
      ['warn', 'err'],
      ['info', 'out'],
    ]);
  });

  it.each([
    ['many lines', 'x\n'],
    ['long lines', 'x'.repeat(999)],
  ])('ends after %s, and says so once', (_what, piece) => {
    const { lines, text } = recorded();
    for (let n = 0; n < 5_000; n += 1) text.push('info', piece);
    text.flush();
    expect(lines.length).toBeLessThan(1_010);
    expect(lines.filter(([, line]) => line.startsWith('(output truncated'))).toHaveLength(1);
  });
});
