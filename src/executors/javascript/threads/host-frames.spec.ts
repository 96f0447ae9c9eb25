// Frames of a host process are read as from anybody: whatever comes, it is one of ours or a ProtocolViolation.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameDecoder } from '../../../lib/bytes/frames.ts';
import {
  encodeMessage,
  encodeNews,
  encodeToHost,
  largestFrame,
  readFromHost,
  readToHost,
} from './host-frames.ts';
import { ProtocolViolation } from './messages.ts';

const LIMITS = { maxMessageBytes: 1_000, maxMemoryBytes: 1 };
const text = fc.string({ unit: 'grapheme', maxLength: 500 });

function received(bytes: Buffer): Buffer {
  return new FrameDecoder(largestFrame(LIMITS)).push(bytes)[0] ?? Buffer.alloc(0);
}

describe('frames to a host', () => {
  it('arrive as they were sent', () => {
    fc.assert(
      fc.property(fc.nat(), text, text, (thread, id, body) => {
        for (const message of [
          { kind: 'call', id, url: id, name: 'execute', body },
          { kind: 'reply', id, step: 1, body },
          { kind: 'check', id, module: { url: id, text: body } },
          { kind: 'cancel', id, type: 'TIMEOUT', message: body },
        ] as const) {
          const order = { kind: 'post', thread, message } as const;
          expect(readToHost(received(encodeToHost(order)))).toEqual(order);
        }
      }),
    );
    expect(readToHost(received(encodeToHost({ kind: 'open', thread: 1 })))).toEqual({
      kind: 'open',
      thread: 1,
    });
  });
});

describe('frames from a host', () => {
  it('arrive as they were sent', () => {
    fc.assert(
      fc.property(fc.nat(), text, fc.boolean(), (thread, body, spoiled) => {
        const message = { kind: 'returned', id: 'a', body, spoiled } as const;
        expect(readFromHost(received(encodeMessage(thread, message)))).toEqual({ thread, message });
        const news = { kind: 'failed', why: body } as const;
        expect(readFromHost(received(encodeNews(thread, news)))).toEqual({ thread, news });
      }),
    );
  });

  it('of the longest message that is allowed are not too large', () => {
    const body = '€'.repeat(LIMITS.maxMessageBytes + 65_536);
    const message = { kind: 'returned', id: 'x'.repeat(64), body, spoiled: false } as const;
    expect(readFromHost(received(encodeMessage(1, message)))).toEqual({ thread: 1, message });
  });

  it('never end in anything but a violation', () => {
    const violationOf = (bytes: Buffer) => {
      try {
        readFromHost(bytes);
        return undefined;
      } catch (error) {
        return error instanceof ProtocolViolation ? undefined : error;
      }
    };
    const head = fc.oneof(
      fc.json(),
      fc.record({ thread: fc.anything(), news: fc.anything(), message: fc.anything() }).map((it) => {
        return fc.stringify(it);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array(), head, text, (bytes, said, body) => {
        expect(violationOf(Buffer.from(bytes))).toBeUndefined();
        expect(violationOf(Buffer.from(`${said}\n${body}`))).toBeUndefined();
      }),
    );
  });

  it.each([
    ['no thread', '{"news":{"kind":"exhausted"}}\n'],
    ['no kind', '{"thread":1}\n'],
    ['an unknown kind', '{"thread":1,"news":{"kind":"toString"}}\n'],
    ['news without its parts', '{"thread":1,"news":{"kind":"gone"}}\n'],
  ])('with %s are refused', (_what, frame) => {
    expect(() => readFromHost(Buffer.from(frame))).toThrow(ProtocolViolation);
  });
});
