// The folder of recordings: what lies there, how large it is, and what a crash left half-done.
import { createReadStream, type Dirent } from 'node:fs';
import { open, readdir, rename, rm, stat, truncate, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '../../lib/files/make-folders.ts';
import type { RecordingState } from '../../ports/recordings.ts';
import type { RecordingPlace } from './running-recording.ts';
import { isTail, readHead, readTail, tailLine } from './recording-lines.ts';

const FINISHED = /^([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.jsonl$/;
const PART = /^([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.(\d{1,10})\.part$/;
/** The first line is never longer, nor the last. */
const HEAD_BYTES = 16_384;
const TAIL_BYTES = 1_024;
const NEWLINE = 0x0a;

export class RecordingFolder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async make(): Promise<void> {
    makeFolders(this.#path, 0o700);
  }

  /** Several processes may share a folder: each part bears the number of the one that writes it. */
  placeOf(name: string): RecordingPlace {
    return { path: this.pathOf(name), part: join(this.#path, `${name}.${process.pid}.part`) };
  }

  pathOf(name: string): string {
    return join(this.#path, `${name}.jsonl`);
  }

  async has(name: string): Promise<boolean> {
    return (await this.#names()).some((file) => (FINISHED.exec(file) ?? PART.exec(file))?.[1] === name);
  }

  /** Of all recordings in it but those that this process is writing. */
  async bytes(): Promise<number> {
    const counted = (await this.#names()).filter((file) => FINISHED.test(file) || isOthersPart(file));
    const sizes = await Promise.all(counted.map(async (file) => sizeOf(join(this.#path, file))));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** The recordings that have ended. A file that is none is passed over. */
  async finished(): Promise<readonly RecordingState[]> {
    const names = (await this.#names()).flatMap((file) => FINISHED.exec(file)?.[1] ?? []);
    const states = await Promise.all(names.map((name) => this.stateOf(name)));
    return states.filter((state) => state !== undefined);
  }

  async stateOf(name: string): Promise<RecordingState | undefined> {
    const file = await openOrNone(this.pathOf(name));
    if (file === undefined) return undefined;
    try {
      const { size: bytes } = await file.stat();
      const head = readHead(JSON.parse(firstLine(await piece(file, 0, HEAD_BYTES))));
      const last: unknown = JSON.parse(
        lastLine(await piece(file, Math.max(0, bytes - TAIL_BYTES), TAIL_BYTES)),
      );
      if (!isTail(last)) return undefined;
      const { sealId: _seal, ...about } = head;
      return { ...about, name, ...readTail(last), bytes };
    } catch {
      return undefined;
    } finally {
      await file.close();
    }
  }

  /** Undefined: there is no such file. */
  async stream(path: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const file = await openOrNone(path);
    if (file === undefined) return undefined;
    const { size } = await file.stat();
    // What is appended meanwhile is not in it: a line is never sent by half.
    return size === 0
      ? createReadStream('', { fd: file })
      : createReadStream('', { fd: file, start: 0, end: size - 1 });
  }

  async remove(name: string): Promise<boolean> {
    const path = this.pathOf(name);
    const there = (await sizeOf(path)) > 0;
    await rm(path, { force: true });
    return there;
  }

  /** Ends what a process that is no more has left: cut to whole lines, marked as ended by a crash. Gives the names. */
  async mend(): Promise<readonly string[]> {
    const left = (await this.#names()).flatMap((file) => {
      const [, name, pid] = PART.exec(file) ?? [];
      return name === undefined || isAlive(Number(pid)) ? [] : [{ name, part: join(this.#path, file) }];
    });
    for (const { name, part } of left) await mendPart(part, this.pathOf(name));
    return left.map(({ name }) => name);
  }

  async #names(): Promise<readonly string[]> {
    try {
      const entries: readonly Dirent[] = await readdir(this.#path, { withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
}

async function mendPart(part: string, path: string): Promise<void> {
  let lines = 0;
  let whole = 0;
  let seen = 0;
  let lastFrom = 0;
  for await (const chunk of createReadStream(part) as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
      lines += 1;
      lastFrom = whole;
      whole = seen + at + 1;
    }
    seen += chunk.length;
  }
  if (lines === 0) return rm(part, { force: true });
  await truncate(part, whole);
  const file = await open(part, 'r+');
  try {
    const ended = (await piece(file, lastFrom, 16)).toString('latin1').startsWith('{"ended":');
    if (!ended) await file.write(tailLine({ ended: 'crash', calls: lines - 1, missed: 0 }), whole);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(part, path);
}

function isOthersPart(file: string): boolean {
  const pid = PART.exec(file)?.[2];
  return pid !== undefined && Number(pid) !== process.pid;
}

/** A process of our own number is an earlier one: numbers repeat in containers. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function openOrNone(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function piece(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

function firstLine(bytes: Buffer): string {
  return bytes.subarray(0, bytes.indexOf(NEWLINE)).toString();
}

function lastLine(bytes: Buffer): string {
  const text = bytes.toString().trimEnd();
  return text.slice(text.lastIndexOf('\n') + 1);
}
