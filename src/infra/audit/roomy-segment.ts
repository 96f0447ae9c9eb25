// RoomySegment: a file of the audit journal that makes room ahead: to sync what is written over costs half of what growing does.
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** Where it exists, on Linux, a write that syncs as well: one turn of the event loop instead of two. */
const DSYNC: number | undefined = constants.O_DSYNC;
const FLAGS = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | (DSYNC ?? 0);
/** Written ahead at once, at most. */
const MOST_ROOM = 1 << 18;
const ZEROS = new Uint8Array(MOST_ROOM);

/**
 * A file that grows has its new size and place synced as well: the file system commits its own journal for each group of records.
 * So each time it has to grow it is made twice as large, with zeros in the same write, and what follows goes over them.
 * They are cut off when it is complete; those of a process that was killed are not read.
 */
export class RoomySegment {
  readonly path: string;
  readonly #handle: FileHandle;
  /** Behind the last group. */
  #end = 0;
  #size = 0;
  /** A group may have arrived in part. */
  #isTorn = false;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** Rejects where there is such a file already. */
  static async create(path: string): Promise<RoomySegment> {
    return new RoomySegment(path, await open(path, FLAGS, 0o600));
  }

  /** Makes room for so many bytes, before there is anything in the file. Rejects where the disk has not so much. */
  async makeRoom(bytes: number): Promise<void> {
    while (this.#size < bytes) {
      const { bytesWritten } = await this.#handle.write(ZEROS, 0, ZEROS.length, this.#size);
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
      if (bytesWritten <= 0) throw new Error(`nothing could be written to ${this.path}`);
      done += bytesWritten;
    }
    if (DSYNC === undefined) await this.#handle.datasync();
    this.#size = Math.max(this.#size, this.#end + done);
    this.#end = end;
    this.#isTorn = false;
  }

  async close(): Promise<void> {
    try {
      if (this.#size > this.#end && !this.#isTorn) await this.#handle.truncate(this.#end);
    } finally {
      await this.#handle.close();
    }
  }
}

/** What was appended: no record holds a zero byte, which JSON escapes. */
export function withoutRoom(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}
