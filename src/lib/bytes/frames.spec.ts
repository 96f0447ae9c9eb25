import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameDecoder, FrameTooLarge } from './frames.ts';

/** Cuts the bytes at the given places, wherever they fall. */
function chop(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const edges = [0, ...places, bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

const text = fc.string({ unit: 'grapheme', maxLength: 200 });

describe('frames', () => {
  it('are the same frames however the stream was chopped', () => {
    const property = fc.property(fc.array(text), fc.array(fc.nat(), { maxLength: 40 }), (texts, cuts) => {
      const decoder = new FrameDecoder(10_000);
      const stream = Buffer.concat(texts.map(encodeFrame));
      const frames = chop(stream, cuts).flatMap((chunk) => decoder.push(chunk));
      expect(frames.map(String)).toEqual(texts);
    });
    fc.assert(property);
  });

  it('are the same frames byte by byte', () => {
    const decoder = new FrameDecoder(100);
    const stream = Buffer.concat(['{}', '', 'grüße'].map(encodeFrame));
    const frames = [...stream].flatMap((byte) => decoder.push(Buffer.of(byte)));
    expect(frames.map(String)).toEqual(['{}', '', 'grüße']);
  });

  it('announced larger than allowed are refused before any of their bytes came', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 101, max: 0xffff_ffff }),
        fc.array(text, { maxLength: 3 }),
        (length, before) => {
          const decoder = new FrameDecoder(100);
          const small = before.filter((each) => Buffer.byteLength(each) <= 100);
          for (const each of small) decoder.push(encodeFrame(each));
          const header = Buffer.alloc(4);
          header.writeUInt32BE(length);
          expect(() => decoder.push(header)).toThrow(FrameTooLarge);
        },
      ),
    );
  });

  it('of exactly the largest size are taken', () => {
    expect(new FrameDecoder(5).push(encodeFrame('12345')).map(String)).toEqual(['12345']);
  });
});
