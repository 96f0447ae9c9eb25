// Strings of a JSON text that are too long to be read in one go: where they end, and what they say.
import { notJson } from './limits.ts';

const QUOTE = 0x22, BACKSLASH = 0x5c, LETTER_U = 0x75; // oxfmt-ignore
/** What the bytes behind the first of a character begin with. */
const CONTINUATION = 0b1000_0000;
const IS_CONTINUATION = 0b1100_0000;

/** Behind the closing quote, if it comes before `limit`; `start` is behind the opening one. */
export function endOfString(bytes: Buffer, start: number, limit: number): number | undefined {
  const end = Math.min(limit, bytes.length);
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) return at + 1;
  }
  return undefined;
}

/** The same without a limit, giving way after each `slice` of bytes. Throws LargeJsonError. */
export function* endOfLongString(bytes: Buffer, start: number, slice: number): Generator<void, number> {
  for (let at = start; at < bytes.length; yield) {
    const limit = Math.min(at + slice, bytes.length);
    for (; at < limit; at += 1) {
      const byte = bytes[at];
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) return at + 1;
    }
  }
  throw notJson();
}

/** What stands between the quotes at `start - 1` and `end`. */
export function* readLongString(
  bytes: Buffer,
  start: number,
  end: number,
  slice: number,
): Generator<void, string> {
  const parts: string[] = [];
  for (let from = start; from < end; yield) {
    const to = cutAfter(bytes, from, from + slice, end);
    parts.push(unquoted(bytes.toString('utf8', from, to)));
    from = to;
  }
  return parts.join('');
}

function unquoted(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch (cause) {
    throw notJson(cause);
  }
}

/** The first place from `wanted` on that is inside of no escape and no character. */
function cutAfter(bytes: Buffer, from: number, wanted: number, end: number): number {
  let at = from;
  let run = 0;
  for (; at < end; at += 1) {
    const byte = bytes[at] as number;
    // No character has more than three: what follows those stands alone.
    run = (byte & IS_CONTINUATION) === CONTINUATION ? run + 1 : 0;
    if (at >= wanted && (run === 0 || run > 4)) return at;
    if (byte === BACKSLASH) at += bytes[at + 1] === LETTER_U ? 5 : 1;
  }
  return end;
}
