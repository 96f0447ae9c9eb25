import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventParser } from './sse.ts';

const words = fc.string({ unit: fc.constantFrom('a', 'é', ' ', ':', '😀', '{', '\u2028'), maxLength: 12 });
const events = fc.array(
  fc.record({
    event: fc.constantFrom('progress', 'log', 'result'),
    id: fc.integer({ min: 0, max: 999 }).map(String),
    data: words,
  }),
  { maxLength: 6 },
);

describe('the parser of server-sent events', () => {
  it('finds the same events in whatever pieces the text comes', () => {
    fc.assert(
      fc.property(
        events,
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        fc.boolean(),
        (sent, sizes, windows) => {
          const end = windows ? '\r\n' : '\n';
          const text = sent
            .map(
              ({ event, id, data }) =>
                `id: ${id}${end}event: ${event}${end}: still here${end}data: ${data}${end}${end}`,
            )
            .join('');
          const parser = new EventParser();
          const found = [];
          for (let at = 0; at < text.length;) {
            const size = sizes.next().value ?? 1;
            found.push(...parser.push(text.slice(at, at + size)));
            at += size;
          }
          expect(found).toEqual(sent.map(({ event, id, data }) => ({ event, id, data })));
        },
      ),
    );
  });

  it('tells of no event that was cut', () => {
    const parser = new EventParser();
    expect(
      parser.push('retry: 1000\n\nid: 1\nevent: log\ndata: "whole"\n\nid: 2\nevent: log\ndata: "cu'),
    ).toEqual([{ event: 'log', id: '1', data: '"whole"' }]);
    expect(parser.retryMs).toBe(1000);
  });
});
