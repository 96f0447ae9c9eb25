// SegmentFolder: the files of the audit journal, numbered in the order they were begun. Nothing else here but its files touches the disk.
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DataDirInUse, lockDataDir } from '../data-dir/data-dir-lock.ts';
import { RoomySegment, withoutRoom } from './roomy-segment.ts';

/** A file that is being written. */
export interface SegmentFile {
  readonly path: string;
  /** Writes all of it to the end of the file. It outlives the machine when this resolves. */
  append(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** A file that is complete. */
export interface Segment {
  readonly path: string;
  readonly bytes: number;
  readonly records: number;
  /** Epoch milliseconds of its first record, or of the file. */
  readonly since: number;
  /** Records in it may be in another file as well, or in the database: a process or a write has failed. */
  readonly mayRepeat?: boolean;
}

/** What AuditJournal and AuditShipper ask of a disk; tests have one that fails. */
export interface SegmentStorage {
  create(): Promise<SegmentFile>;
  /** Makes the file of the next `create` meanwhile, with room for so many bytes: then nobody waits for it. Once for each. */
  prepare(bytes: number): void;
  leftovers(): Promise<readonly Segment[]>;
  /** Good until the next one is read. */
  read(path: string): Promise<Buffer>;
  remove(path: string): Promise<void>;
  /** Keeps the line of a record that the database refuses, for a human. */
  reject(line: Buffer): Promise<void>;
  release(): Promise<void>;
}

const NAME = /^(\d{10})\.jsonl$/;
const MAX_NEIGHBOURS = 64;
const NEWLINE = 0x0a;
/** More than a file has while the disk is as fast as the calls. */
const MOST_KEPT_BYTES = 4 << 20;

/** By its name: a file of records that are still to be shipped. What the database has refused lies beside them, and stays. */
export function isSegment(name: string): boolean {
  return NAME.test(name);
}

export class SegmentFolder implements SegmentStorage {
  readonly path: string;
  readonly #unlock: () => void;
  #last = 0;
  /** Of what is read: with new memory for each file, V8 searches its whole heap every few seconds. */
  #memory = Buffer.alloc(0);
  /** Undefined where it could not be made ahead, on a disk that is almost full. */
  #next: Promise<RoomySegment | undefined> | undefined;
  /** An emptied file, for the next one that is made ahead. */
  #spare: Promise<RoomySegment | undefined> | undefined;

  private constructor(path: string, unlock: () => void) {
    this.path = path;
    this.#unlock = unlock;
  }

  /**
   * A folder that no living process has: the one named, or where several processes share a data directory, the first
   * free one beside it. What dead ones left in theirs is taken over.
   */
  static async open(path: string): Promise<SegmentFolder> {
    const folder = await SegmentFolder.#firstFree(path);
    await folder.#takeOver(path);
    return folder;
  }

  static async #firstFree(first: string): Promise<SegmentFolder> {
    for (let count = 1; count <= MAX_NEIGHBOURS; count += 1) {
      const folder = await SegmentFolder.#tryAt(neighbour(first, count));
      if (folder !== undefined) return folder;
    }
    throw new Error(
      `${MAX_NEIGHBOURS} processes share the data directory ${dirname(first)}: give each its own`,
    );
  }

  static async #at(path: string): Promise<SegmentFolder> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const unlock = lockDataDir(path);
    try {
      await mkdir(path, { recursive: true, mode: 0o700 });
      const folder = new SegmentFolder(path, unlock);
      folder.#last = Math.max(0, ...(await folder.#numbers()));
      return folder;
    } catch (error) {
      unlock();
      throw error;
    }
  }

  static async #tryAt(path: string): Promise<SegmentFolder | undefined> {
    try {
      return await SegmentFolder.#at(path);
    } catch (error) {
      if (error instanceof DataDirInUse) return undefined;
      throw error;
    }
  }

  async create(): Promise<SegmentFile> {
    const prepared = await this.#next;
    this.#next = undefined;
    return prepared ?? this.#make(0);
  }

  prepare(bytes: number): void {
    this.#next ??= this.#make(bytes).catch(() => undefined);
  }

  async #make(room: number): Promise<RoomySegment> {
    this.#last += 1;
    const path = this.#pathOf(this.#last);
    const file = (room > 0 ? await this.#reused(path) : undefined) ?? (await RoomySegment.create(path));
    try {
      await file.makeRoom(room);
      await this.#syncNames();
      return file;
    } catch (error) {
      await file.close();
      if (room > 0) await this.remove(path);
      throw error;
    }
  }

  async leftovers(): Promise<readonly Segment[]> {
    const numbers = (await this.#numbers()).toSorted((one, other) => one - other);
    const found: Segment[] = [];
    for (const number of numbers) {
      const path = this.#pathOf(number);
      const [{ mtimeMs }, bytes] = await Promise.all([stat(path), this.read(path)]);
      const records = bytes.reduce((count, byte) => (byte === NEWLINE ? count + 1 : count), 0);
      found.push({ path, bytes: bytes.length, records, since: mtimeMs, mayRepeat: true });
    }
    return found;
  }

  async read(path: string): Promise<Buffer> {
    const handle = await open(path, 'r');
    try {
      const { size } = await handle.stat();
      if (size > MOST_KEPT_BYTES) return withoutRoom(await handle.readFile());
      if (size > this.#memory.length) this.#memory = Buffer.allocUnsafeSlow(size);
      let length = 0;
      for (let read = 1; read > 0 && length < size; length += read)
        ({ bytesRead: read } = await handle.read(this.#memory, length, size - length, length));
      return withoutRoom(this.#memory.subarray(0, length));
    } finally {
      await handle.close();
    }
  }

  /**
   * A large file is overwritten, and becomes one of the next: to give its place on the disk back and to find another is work
   * for the file system's own journal, behind which the next group would wait.
   */
  async remove(path: string): Promise<void> {
    if (this.#spare === undefined) {
      this.#spare = RoomySegment.emptied(path).catch(() => undefined);
      if ((await this.#spare) !== undefined) return;
      this.#spare = undefined;
    }
    await rm(path, { force: true });
  }

  async reject(line: Buffer): Promise<void> {
    const handle = await open(join(this.path, 'rejected.jsonl'), 'a', 0o600);
    try {
      await handle.writeFile(line);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }

  async release(): Promise<void> {
    // One after the other: the next one may be the spare one.
    const next = await this.#next;
    const spare = await this.#spare;
    for (const file of [next, spare]) {
      await file?.close();
      if (file !== undefined) await rm(file.path, { force: true });
    }
    this.#unlock();
  }

  async #reused(path: string): Promise<RoomySegment | undefined> {
    const spare = await this.#spare;
    this.#spare = undefined;
    await spare?.moveTo(path);
    return spare;
  }

  async #takeOver(first: string): Promise<void> {
    for (let count = 1; count <= MAX_NEIGHBOURS; count += 1) {
      const path = neighbour(first, count);
      if (path === this.path || !(await isFolder(path))) continue;
      const orphan = await SegmentFolder.#tryAt(path);
      if (orphan === undefined) continue;
      for (const { path: from } of await orphan.leftovers()) {
        this.#last += 1;
        await rename(from, this.#pathOf(this.#last));
      }
      await orphan.release();
    }
  }

  async #numbers(): Promise<readonly number[]> {
    const names = await readdir(this.path);
    return names.flatMap((name) => NAME.exec(name)?.slice(1).map(Number) ?? []);
  }

  #pathOf(number: number): string {
    return join(this.path, `${String(number).padStart(10, '0')}.jsonl`);
  }

  /** A new file's name is part of its folder. */
  async #syncNames(): Promise<void> {
    const handle = await open(this.path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

function neighbour(first: string, count: number): string {
  return count === 1 ? first : `${first}-${count}`;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
