// The lines of a file, one at a time: of a file of any size, no more is held than a line.
import { createReadStream } from 'node:fs';
import { CliFailure, EXIT } from './exit-code.ts';
import { reasonOf } from './gateway-client.ts';

const NEWLINE = 0x0a;
/** No record is as long. */
const MAX_LINE_BYTES = 32 << 20;

/** Without the line break; what comes after the last one is a line as well. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let start = 0;
      for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, start)) {
        yield bytes.toString('utf8', start, at);
        start = at + 1;
      }
      rest = bytes.subarray(start);
      if (rest.length > MAX_LINE_BYTES) throw new Error(`a line is longer than ${MAX_LINE_BYTES} bytes`);
    }
  } catch (error) {
    throw new CliFailure(EXIT.usage, `${path} cannot be read: ${reasonOf(error)}`);
  }
  if (rest.length > 0) yield rest.toString();
}
