// TemporaryFolders: on the disk, where nothing better is to be had for a run, and gone after it; and content lent to children.
import { randomUUID } from 'node:crypto';
import {
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { isDiskFull } from '../../../lib/files/disk-full.ts';
import type { ProcessStarter } from '../../process/process-starter.ts';
import { namedBytes, unnamedBytes } from './folder-usage.ts';
import { O_PATH, type Owner } from './workspace-files.ts';

export interface WorkspaceFolder {
  /** O_PATH; open until `release`. */
  readonly fd: number;
  /**
   * Bytes that it holds, with or without a name, as the process group writes to it. Infinity where they cannot be
   * counted, or where the disk has too little left.
   */
  usage(group: number, largestFile: number): Promise<number>;
  release(): Promise<void>;
}

export interface TemporaryFoldersOptions {
  readonly root: string;
  /** What is left free on the disk, whatever a run may take. */
  readonly freeBytes: number;
  readonly owner: Owner | undefined;
  readonly starter: ProcessStarter;
}

export class TemporaryFolders {
  readonly #options: TemporaryFoldersOptions;
  readonly #folder: string;

  constructor(options: TemporaryFoldersOptions) {
    this.#options = options;
    this.#folder = join(options.root, 'temporary');
  }

  make(): WorkspaceFolder {
    const { owner } = this.#options;
    this.#makeRoot();
    const path = join(this.#folder, randomUUID());
    mkdirSync(path, { mode: 0o700 });
    // Nobody but the gateway can have put something else in its place.
    const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
    // As the kernel names it, all links followed.
    const real = readlinkSync(`/proc/self/fd/${fd}`);
    return {
      fd,
      usage: (group, largestFile) => this.#usage(real, group, largestFile),
      release: async () => {
        closeSync(fd);
        await this.#remove(path);
      },
    };
  }

  /** A descriptor that gives this content and nothing else; nothing of it stays on the disk. */
  lend(content: Buffer | string): number {
    const path = join(this.#folder, randomUUID());
    try {
      this.#makeRoot();
      writeFileSync(path, content, { mode: 0o600 });
      return openSync(path, 'r');
    } catch (error) {
      throw notLent(error);
    } finally {
      rmSync(path, { force: true });
    }
  }

  /** Throws before a run that will take this much of the disk, where less than that can be spared. */
  async checkSpace(bytes: number): Promise<void> {
    this.#makeRoot();
    const { freeBytes } = this.#options;
    const free = await this.#free();
    if (free - bytes >= freeBytes) return;
    const message = `The disk of the workspaces has ${free} bytes left; a run that may write ${bytes} would leave less than the ${freeBytes} of executors.shell.workspace_free_bytes. Free some, or set workspace_dir.`;
    throw toolFailure('DISK_FULL', message, { partialSideEffects: false });
  }

  async #usage(path: string, group: number, largestFile: number): Promise<number> {
    if ((await this.#free()) < this.#options.freeBytes) return Infinity;
    // What its own owner cannot look into is within no limit.
    const named = await namedBytes(path).catch(() => Infinity);
    return named === Infinity ? named : named + (await unnamedBytes(group, path, largestFile));
  }

  async #free(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#folder);
    return bavail * bsize;
  }

  /** The sandbox's user goes through, and looks into nothing but what is its own. */
  #makeRoot(): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o711 });
  }

  /** By programs that descend from folder to folder: names may nest deeper than a path can say, or shut out their owner. */
  async #remove(path: string): Promise<void> {
    if (await this.#runs('/bin/rm', '-rf', '--one-file-system', '--', path)) return;
    await this.#runs('/bin/chmod', '-R', 'u+rwX', '--', path);
    await this.#runs('/bin/rm', '-rf', '--one-file-system', '--', path);
  }

  async #runs(...argv: string[]): Promise<boolean> {
    const plan = { argv, cwd: '/', env: {}, channel: false, stdin: false };
    const child = await this.#options.starter.start(plan);
    child.stdout.resume();
    child.stderr.resume();
    return (await child.exited).code === 0;
  }
}

/** Before anything was started. */
function notLent(cause: unknown): ToolFailure {
  const { code } = cause as NodeJS.ErrnoException;
  if (isDiskFull(cause))
    return toolFailure('DISK_FULL', 'The disk of the workspaces is full: nothing can be run.', {
      partialSideEffects: false,
      cause,
    });
  const message = `The program cannot be started: ${code ?? 'a file for it cannot be written'}.`;
  return toolFailure('SPAWN_FAILED', message, { partialSideEffects: false, cause });
}
