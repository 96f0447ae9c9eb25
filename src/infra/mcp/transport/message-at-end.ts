// An answer at the end of a line that begins with something else: what a program prints without a line end, a prompt or a
// progress bar, stands before the next message on the same line.

/** How servers begin a message; their serialisers differ in the order of members. */
const BEGINNING = /\{\s*"(?:jsonrpc|id|result|error|method)"/g;
/** Each try reads up to the whole rest. A message inside another one is followed by more, and so is no JSON to the end. */
const MOST_TRIES = 4;

/** Where it begins, as far as that can be told; `parse` is undefined for what is no message. */
export function messageAtEnd<Message>(
  line: Buffer,
  parse: (text: Buffer) => Message | undefined,
): Message | undefined {
  // One character for each byte: positions are those of the buffer.
  const text = line.toString('latin1');
  let tries = 0;
  for (const { index } of text.matchAll(BEGINNING)) {
    const message = index === 0 ? undefined : parse(line.subarray(index));
    if (message !== undefined || (tries += 1) >= MOST_TRIES) return message;
  }
  return undefined;
}
