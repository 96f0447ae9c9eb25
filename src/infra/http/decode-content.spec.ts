// Content codings: undone when a server uses one unasked, and never beyond the cap.
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeContent } from './decode-content.ts';

const TEXT = Buffer.from('{"hello":"world"}');

function decode(coding: string | undefined, body: Buffer, maxBytes = 1_000): Promise<Buffer> {
  return decodeContent({ status: 200, headers: { 'content-encoding': coding }, body }, maxBytes);
}

/** In its fastest way: a bomb is small in any. */
const brotliBomb = (bytes: Buffer) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

describe('decodeContent', () => {
  it.each([
    ['gzip', gzipSync(TEXT)],
    ['X-GZIP', gzipSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['identity', TEXT],
    [undefined, TEXT],
  ])('undoes %s', async (coding, body) => {
    expect(await decode(coding, body)).toEqual(TEXT);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliBomb],
    ['deflate', deflateSync],
  ])('a %s bomb is cut off at the cap', async (coding, compress) => {
    const bomb = compress(Buffer.alloc(50 * 1024 * 1024));
    await expect(decode(coding, bomb, 64 * 1024)).rejects.toMatchObject({
      type: 'OUTPUT_TOO_LARGE',
      origin: 'tool',
      details: { status: 200, max_bytes: 65_536 },
    });
  });

  it('a body that is not what its coding says is OUTPUT_INVALID', async () => {
    await expect(decode('gzip', TEXT)).rejects.toMatchObject({ reason: 'UNREADABLE_ENCODING' });
    await expect(decode('gzip', gzipSync(TEXT).subarray(0, -9))).rejects.toMatchObject({
      type: 'OUTPUT_INVALID',
    });
  });

  it.each(['gzip, br', 'compress', 'gzip, gzip'])('%s is refused: one known coding only', async (coding) => {
    await expect(decode(coding, TEXT)).rejects.toMatchObject({
      type: 'OUTPUT_INVALID',
      reason: 'UNSUPPORTED_ENCODING',
    });
  });

  it('an empty body stays empty, whatever coding a HEAD or 204 names', async () => {
    expect(await decode('gzip', Buffer.alloc(0))).toHaveLength(0);
  });
});
