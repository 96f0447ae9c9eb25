// Line frames and the depth of JSON: however the bytes are cut up, the same comes out.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonDepth, MAX_DEPTH } from './transport/json-depth.ts';
import { LineFrames } from './transport/line-frames.ts';

interface Seen {
  readonly lines: string[];
  long: number;
  endless: number;
}

/** Cuts the text at every n-th byte of the given sizes. */
function* pieces(text: string, sizes: readonly number[]): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

function framesOf(text: string, sizes: readonly number[], maxBytes: number, endlessBytes = 1e9): Seen {
  const seen: Seen = { lines: [], long: 0, endless: 0 };
  const frames = new LineFrames(maxBytes, endlessBytes, {
    frame: (line) => void seen.lines.push(line.toString('utf8')),
    tooLong: () => void (seen.long += 1),
    endless: () => void (seen.endless += 1),
  });
  for (const piece of pieces(text, sizes)) frames.push(piece);
  return seen;
}

const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

describe('LineFrames', () => {
  it('gives the lines that are short enough, and counts those that are not', () => {
    const line = fc.string({ maxLength: 60, unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 20 }),
        cuts,
        fc.integer({ min: 1, max: 80 }),
        (lines, sizes, max) => {
          const fits = lines.filter((each) => Buffer.byteLength(each) <= max);
          const seen = framesOf(lines.map((each) => `${each}\n`).join(''), sizes, max);
          expect(seen.lines).toEqual(fits);
          expect(seen.long).toBe(lines.length - fits.length);
        },
      ),
    );
  });

  it('keeps both ends of a line that is too long: its beginning, and as much of its end as a line may have', () => {
    let ends: string[] = [];
    const frames = new LineFrames(2_000, 1e9, {
      frame: () => expect.unreachable(),
      tooLong: (head, tail) => (ends = [head.toString(), tail.toString()]),
      endless: () => expect.unreachable(),
    });
    for (const piece of pieces(`begin${'x'.repeat(100_000)}end\n`, [1, 700, 3])) frames.push(piece);
    expect(ends.map((end) => end.length)).toEqual([512, 2_000]);
    expect(ends[0]).toMatch(/^beginx+$/);
    expect(ends[1]).toMatch(/^x+end$/);
  });

  it('says once that there seems to be no end', () => {
    expect(framesOf('x'.repeat(5_000), [64], 100, 1_000)).toEqual({ lines: [], long: 0, endless: 1 });
  });
});

function isShallow(text: string): boolean {
  return new JsonDepth().pushAll(Buffer.from(text));
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('JsonDepth', () => {
  it('is not misled by what stands in strings', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5, stringUnit: fc.constantFrom('[', '{', '"', '\\', 'x') }),
        (value) => {
          const lift = MAX_DEPTH - depthOf(value);
          const wrapped = (levels: number) => '['.repeat(levels) + JSON.stringify(value) + ']'.repeat(levels);
          expect(isShallow(wrapped(lift))).toBe(true);
          expect(isShallow(wrapped(lift + 1))).toBe(false);
        },
      ),
    );
  });
});
