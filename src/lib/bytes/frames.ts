// Frames: a byte stream cut into messages. Four bytes of big-endian length, then that many bytes.
import { ByteList } from './byte-list.ts';

const HEADER_BYTES = 4;

export function encodeFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.writeUInt32BE(length, 0);
  frame.write(text, HEADER_BYTES);
  return frame;
}

/** The other side announced a frame larger than allowed. The stream cannot be read any further. */
export class FrameTooLarge extends Error {
  constructor(announced: number, maxBytes: number) {
    super(`a frame of ${announced} bytes was announced, ${maxBytes} are allowed`);
    this.name = 'FrameTooLarge';
  }
}

/** Cuts a byte stream into frames, however the stream was chopped on its way. */
export class FrameDecoder {
  readonly #maxBytes: number;
  readonly #buffered = new ByteList();
  /** Bytes that must be there before it is worth looking again. */
  #needed = HEADER_BYTES;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The contents of the frames that this chunk completes. Throws FrameTooLarge. */
  push(chunk: Buffer): Buffer[] {
    this.#buffered.push(chunk);
    if (this.#buffered.length < this.#needed) return [];
    const data = this.#buffered.whole();
    const frames: Buffer[] = [];
    let offset = 0;
    this.#needed = HEADER_BYTES;
    while (data.length - offset >= HEADER_BYTES) {
      const start = offset + HEADER_BYTES;
      const end = start + this.#checkedLength(data.readUInt32BE(offset));
      if (end > data.length) {
        this.#needed = end - offset;
        break;
      }
      frames.push(data.subarray(start, end));
      offset = end;
    }
    this.#keep(data.subarray(offset));
    return frames;
  }

  #checkedLength(length: number): number {
    if (length > this.#maxBytes) throw new FrameTooLarge(length, this.#maxBytes);
    return length;
  }

  #keep(rest: Buffer): void {
    this.#buffered.clear();
    if (rest.length > 0) this.#buffered.push(rest);
  }
}
