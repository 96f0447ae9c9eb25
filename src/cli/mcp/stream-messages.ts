// The messages of an event stream: one text for each event, given once the event is whole.
import type { Readable } from 'node:stream';

/** Rejects where the stream breaks off. What follows the last blank line is no event. */
export async function* streamMessages(stream: Readable): AsyncGenerator<string, void, undefined> {
  let rest = '';
  let data: string[] = [];
  stream.setEncoding('utf8');
  for await (const chunk of stream as AsyncIterable<string>) {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      if (line !== '') continue;
      if (data.length > 0) yield data.join('\n');
      data = [];
    }
  }
}
