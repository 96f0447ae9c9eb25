// Undoes a content coding we did not ask for, bounded on what comes out: a small body may unpack to gigabytes.
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { HttpResponse } from '../../ports/http-client.ts';
import { tooLarge } from './http-failures.ts';

type Decoder = (input: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decodeGzip: Decoder = promisify(gunzip);
const decodeBrotli: Decoder = promisify(brotliDecompress);
const decodeZlib: Decoder = promisify(inflate);
const decodeRawDeflate: Decoder = promisify(inflateRaw);

/** The answer's body as it was meant: the very same buffer where nothing is to be undone. */
export async function decodeContent(response: HttpResponse, maxBytes: number): Promise<Buffer> {
  const { headers, body, status } = response;
  const header = headers['content-encoding'];
  if (header === undefined || body.length === 0) return body;
  const coding = String(header).trim().toLowerCase();
  if (coding === '' || coding === 'identity') return body;
  const decode = decoderOf(coding, body);
  try {
    return await decode(body, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(maxBytes, status);
    throw new ToolFailure('OUTPUT_INVALID', `The upstream's answer says it is ${coding} and is not.`, {
      reason: 'UNREADABLE_ENCODING',
      cause,
    });
  }
}

function decoderOf(coding: string, body: Buffer): Decoder {
  if (coding === 'gzip' || coding === 'x-gzip') return decodeGzip;
  if (coding === 'br') return decodeBrotli;
  // "deflate" means zlib's format, yet some servers send the bare stream; zlib's first byte ends in 8.
  if (coding === 'deflate') return ((body[0] ?? 0) & 0x0f) === 8 ? decodeZlib : decodeRawDeflate;
  throw new ToolFailure(
    'OUTPUT_INVALID',
    `The upstream answered with the content coding "${coding.slice(0, 40)}"; gzip, br and deflate can be read, one at a time.`,
    { reason: 'UNSUPPORTED_ENCODING' },
  );
}
