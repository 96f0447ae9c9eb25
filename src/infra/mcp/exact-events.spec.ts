// Event streams of servers: numbers stay exact however the bytes are cut up, and nothing else is touched.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { exactEvents } from './exact-events.ts';

async function through(text: string, size: number): Promise<string> {
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  const stream = ReadableStream.from(pieces).pipeThrough(exactEvents());
  return new Response(stream).text();
}

it('a number that no double holds becomes text, in data alone', async () => {
  const events =
    'id: 9007199254740993\ndata: {"a":9007199254740993,"é":"1e999"}\n\ndata:[1e999]\r\n\r\n: 1e999\ndata: 1e999';
  const exact =
    'id: 9007199254740993\ndata: {"a":"9007199254740993","é":"1e999"}\n\ndata:["1e999"]\r\n\r\n: 1e999\ndata: "1e999"';
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), async (size) => {
      expect(await through(events, size)).toBe(exact);
    }),
  );
});
