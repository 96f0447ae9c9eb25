// Undoes a content coding we did not ask for, bounded on what comes out: a small body may unpack to gigabytes.
import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { toolFailure } from '../../contract/call/failure.ts';
import type { HttpResponse } from '../../ports/egress/http-client.ts';
import { overCompressed, tooLarge } from './http-failures.ts';

type Decoder = (input: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decodeGzip: Decoder = promisify(gunzip);
const decodeBrotli: Decoder = promisify(brotliDecompress);
const decodeZlib: Decoder = promisify(inflate);
const decodeRawDeflate: Decoder = promisify(inflateRaw);

const unpackZstd = promisify(zstdDecompress);
/** 8 MiB of window are what HTTP allows (RFC 9659); a frame may ask for far more memory. */
const decodeZstd: Decoder = (input, options) =>
  unpackZstd(input, { ...options, params: { [constants.ZSTD_d_windowLogMax]: 23 } });

const MAX_RATIO = 100;
/** Below it, the ratio is of no concern. */
const HARMLESS_BYTES = 1024 * 1024;

/** The answer's body as it was meant: the very same buffer where nothing is to be undone. */
export async function decodeContent(response: HttpResponse, maxBytes: number): Promise<Buffer> {
  const { headers, body, status } = response;
  const header = headers['content-encoding'];
  if (header === undefined || body.length === 0) return body;
  const coding = String(header).trim().toLowerCase();
  if (coding === '' || coding === 'identity') return body;
  const decode = decoderOf(coding, body);
  const ratioBytes = Math.max(HARMLESS_BYTES, body.length * MAX_RATIO);
  try {
    return await decode(body, { maxOutputLength: Math.min(maxBytes, ratioBytes) });
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw ratioBytes < maxBytes ? overCompressed(MAX_RATIO, status) : tooLarge(maxBytes, status);
    }
    throw toolFailure('UNREADABLE_ENCODING', `The upstream's answer says it is ${coding} and is not.`, {
      cause,
    });
  }
}

function decoderOf(coding: string, body: Buffer): Decoder {
  if (coding === 'gzip' || coding === 'x-gzip') return decodeGzip;
  if (coding === 'br') return decodeBrotli;
  if (coding === 'zstd') return decodeZstd;
  // "deflate" means zlib's format, yet some servers send the bare stream; zlib's first byte ends in 8.
  if (coding === 'deflate') return ((body[0] ?? 0) & 0x0f) === 8 ? decodeZlib : decodeRawDeflate;
  throw toolFailure(
    'UNSUPPORTED_ENCODING',
    `The upstream answered with the content coding "${coding.slice(0, 40)}"; gzip, br, zstd and deflate can be read, one at a time.`,
  );
}
