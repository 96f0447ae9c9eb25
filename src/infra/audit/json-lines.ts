// JSON texts, one a line, as bytes: cut up without a character of them becoming a string.
const NEWLINE = 0x0a;

/** Whole lines, at most `most` in a piece; what comes after the last newline is in none of them. */
export function* piecesOf(bytes: Buffer, most: number): Generator<Buffer> {
  let start = 0;
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    count += 1;
    if (count < most) continue;
    yield bytes.subarray(start, at + 1);
    start = at + 1;
    count = 0;
  }
  if (count > 0) yield bytes.subarray(start, endOfLines(bytes));
}

/** Where the last whole line ends: how many of the bytes are lines. */
export function endOfLines(bytes: Buffer): number {
  return bytes.lastIndexOf(NEWLINE) + 1;
}

/** Both halves of several lines; undefined of a single one. */
export function halvesOf(lines: Buffer): readonly [Buffer, Buffer] | undefined {
  const last = lines.length - 1;
  const next = lines.indexOf(NEWLINE, last >> 1);
  const middle = next < last ? next : lines.subarray(0, last).lastIndexOf(NEWLINE);
  return middle < 0 ? undefined : [lines.subarray(0, middle + 1), lines.subarray(middle + 1)];
}
