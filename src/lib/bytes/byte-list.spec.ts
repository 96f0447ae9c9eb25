import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteList } from './byte-list.ts';

const pieces = fc.array(
  fc.tuple(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 40_000 })), fc.nat(255)),
  { maxLength: 30 },
);

function listOf(parts: readonly Buffer[]): ByteList {
  const list = new ByteList();
  for (const part of parts) list.push(part);
  return list;
}

describe('ByteList', () => {
  it('gives back what was put in, however it was cut', () => {
    fc.assert(
      fc.property(pieces, fc.nat(50_000), (said, bytes) => {
        const parts = said.map(([length, fill]) => Buffer.alloc(length, fill));
        const all = Buffer.concat(parts);
        const list = listOf(parts);
        expect(list.whole().equals(all)).toBe(true);
        expect(list.length).toBe(all.length);
        const beginning = list.beginning(bytes);
        expect(beginning.length).toBeGreaterThanOrEqual(Math.min(bytes, all.length));
        expect(beginning.equals(all.subarray(0, beginning.length))).toBe(true);
        list.shorten(bytes);
        expect(list.length).toBeGreaterThanOrEqual(Math.min(bytes, all.length));
        expect(list.whole().equals(all.subarray(all.length - list.length))).toBe(true);
        list.push(Buffer.from('more'));
        expect(list.whole().subarray(-4).toString()).toBe('more');
      }),
    );
  });

  it('keeps a single piece as it came', () => {
    const piece = Buffer.alloc(64 * 1024).subarray(0, 10);
    expect(listOf([piece]).whole()).toBe(piece);
  });

  it('holds nothing of the buffers that short pieces were views of', () => {
    const list = new ByteList();
    const seen = Buffer.allocUnsafeSlow(64 * 1024);
    for (let at = 0; at < 2_000; at += 1) list.push(seen.subarray(at, at + 1));
    const copied = Buffer.from(seen.subarray(0, 2_000));
    seen.fill(1);
    expect(list.whole().equals(copied)).toBe(true);
    expect(list.whole().buffer.byteLength).toBeLessThan(64 * 1024);
  });
});
