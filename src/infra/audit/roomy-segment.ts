// RoomySegment: a file of the audit journal that makes room ahead: to sync what is written over costs half of what growing does.
import { constants } from 'node:fs';
import { open, rename, type FileHandle } from 'node:fs/promises';

/** Where it exists, on Linux, a write that syncs as well: one turn of the event loop instead of two. */
const DSYNC: number | undefined = constants.O_DSYNC;
const WRITE = constants.O_WRONLY | (DSYNC ?? 0);
const CREATE = WRITE | constants.O_CREAT | constants.O_EXCL;
/** Written ahead at once, at most. */
const MOST_ROOM = 1 << 18;
/** A file of this size is used again: its room is left to it where it is a small part. */
export const REUSED_BYTES = 1 << 20;
const SMALL_PART = 8;
const ZEROS = new Uint8Array(MOST_ROOM);

/**
 * A file that grows has its new size and place synced as well: the file system commits its own journal for each group of records.
 * So each time it has to grow it is made twice as large, with zeros in the same write, and what follows goes over them.
 * Many of them are cut off when it is complete; those that are left, or of a process that was killed, are not read.
 */
export class RoomySegment {
  #path: string;
  readonly #handle: FileHandle;
  /** Behind the last group. */
  #end = 0;
  #size = 0;
  /** A group may have arrived in part. */
  #isTorn = false;

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  get path(): string {
    return this.#path;
  }

  /** Rejects where there is such a file already. */
  static async create(path: string): Promise<RoomySegment> {
    return new RoomySegment(path, await open(path, CREATE, 0o600));
  }

  /** An old file without anything that it held, for a place on the disk that is there already; undefined of a smaller one. */
  static async emptied(path: string): Promise<RoomySegment | undefined> {
    const segment = new RoomySegment(path, await open(path, WRITE));
    try {
      const { size } = await segment.#handle.stat();
      if (size >= REUSED_BYTES) {
        // First: whoever finds it half emptied, after a crash, knows it from this.
        await segment.#handle.write(ZEROS, 0, 1, 0);
        if (DSYNC === undefined) await segment.#handle.datasync();
        await segment.makeRoom(size);
        return segment;
      }
    } catch (error) {
      await segment.close();
      throw error;
    }
    await segment.close();
    return undefined;
  }

  async moveTo(path: string): Promise<void> {
    await rename(this.#path, path);
    this.#path = path;
  }

  /** Makes room for so many bytes, before there is anything in the file. Rejects where the disk has not so much. */
  async makeRoom(bytes: number): Promise<void> {
    while (this.#size < bytes) {
      // All in one write, which is one sync.
      const missing = bytes - this.#size;
      const pieces = Array.from({ length: Math.ceil(missing / MOST_ROOM) }, (_, index) =>
        ZEROS.subarray(0, Math.min(MOST_ROOM, missing - index * MOST_ROOM)),
      );
      const { bytesWritten } = await this.#handle.writev(pieces, this.#size);
      if (bytesWritten <= 0) throw new Error(`nothing could be written to ${this.#path}`);
      this.#size += bytesWritten;
    }
    if (DSYNC === undefined) await this.#handle.datasync();
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.#isTorn = true;
    const end = this.#end + bytes.length;
    const room = end > this.#size ? ZEROS.subarray(0, Math.min(end, MOST_ROOM)) : undefined;
    let done = 0;
    // The room is no part of what has to arrive: a disk that is almost full takes the records without it.
    while (done < bytes.length) {
      const rest = done === 0 ? bytes : bytes.subarray(done);
      const at = this.#end + done;
      const { bytesWritten } = await (room === undefined
        ? this.#handle.write(rest, 0, rest.length, at)
        : this.#handle.writev([rest, room], at));
      if (bytesWritten <= 0) throw new Error(`nothing could be written to ${this.#path}`);
      done += bytesWritten;
    }
    if (DSYNC === undefined) await this.#handle.datasync();
    this.#size = Math.max(this.#size, this.#end + done);
    this.#end = end;
    this.#isTorn = false;
  }

  async close(): Promise<void> {
    try {
      const room = this.#size - this.#end;
      const isLeft = this.#size >= REUSED_BYTES && room < this.#size / SMALL_PART;
      if (room > 0 && !isLeft && !this.#isTorn) await this.#handle.truncate(this.#end);
    } finally {
      await this.#handle.close();
    }
  }
}

/**
 * What was appended. No record holds a zero byte, which JSON escapes: one before the room is damage, and no reason to leave
 * out what stands behind it. A file that begins with one is empty, or was being emptied.
 */
export function withoutRoom(bytes: Buffer): Buffer {
  if (bytes[0] === 0) return bytes.subarray(0, 0);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.subarray(0, end);
}
