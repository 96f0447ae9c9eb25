// Text in pieces that one message may hold.

/** Characters that the gateway takes in one message. */
const LONGEST = 16_384;

/** No piece ends inside of a character. */
export function* piecesOf(text: string, longest = LONGEST): Generator<string> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + longest, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) && end - 1 > at) end -= 1;
    yield text.slice(at, end);
    at = end;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
