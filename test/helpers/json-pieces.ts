// How much JSON work in slices does without giving way, counted and not timed.
import { vi } from 'vitest';

/** The most characters that JSON.parse read and JSON.stringify wrote between two yields of `work`. */
export function longestJsonPiece(work: Generator<void, unknown>): number {
  let piece = 0;
  let longest = 0;
  const { parse, stringify } = JSON;
  const read = vi.spyOn(JSON, 'parse').mockImplementation((text: string) => {
    piece += text.length;
    return parse(text) as unknown;
  });
  const written = vi.spyOn(JSON, 'stringify').mockImplementation((value: unknown) => {
    const text = stringify(value);
    piece += text.length;
    return text;
  });
  try {
    for (let step = work.next(); step.done !== true; step = work.next()) {
      longest = Math.max(longest, piece);
      piece = 0;
    }
  } finally {
    read.mockRestore();
    written.mockRestore();
  }
  return Math.max(longest, piece);
}
