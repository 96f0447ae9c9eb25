// ExactEvents: an event stream in which numbers that no double holds are texts, before a library parses them. Line by line:
// a line ends outside of any number. What comes in is bounded already.
import { withExactNumbers } from '../../lib/exact-json.ts';

export function exactEvents(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true });
      const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
      if (end > 0) controller.enqueue(encoder.encode(exactLines(rest + text.slice(0, end))));
      rest = end > 0 ? text.slice(end) : rest + text;
    },
    flush(controller) {
      const last = rest + decoder.decode();
      if (last !== '') controller.enqueue(encoder.encode(exactLines(last)));
    },
  });
}

/** Ids and names of events stay as they are. */
function exactLines(lines: string): string {
  return lines.replaceAll(/^data:[^\r\n]*/gm, (line) => `data:${withExactNumbers(line.slice(5))}`);
}
