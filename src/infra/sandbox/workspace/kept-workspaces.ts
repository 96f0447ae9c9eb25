// KeptWorkspaces: what commands leave for the next of their session, one archive each: no program ever sees where it lies.
import type { Reason } from '../../../contract/call/reasons/reasons.ts';
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { lstat, readdir, stat, unlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Clock } from '../../../ports/clock.ts';
import { ARCHIVE_SUFFIX, KeptSizes } from './kept-sizes.ts';
import type { WorkspaceArchive } from './workspace-archive.ts';
import { WorkspaceLocks } from './workspace-locks.ts';

const SWEEP_EVERY_MS = 10 * 60_000;

export interface KeptWorkspace {
  /** Puts what was kept beside what the open folder holds. */
  restore(folder: number): Promise<void>;
  /** Keeps what the open folder holds. False: it is more than it may be, and what was kept before stays. */
  keep(folder: number): Promise<boolean>;
  /** The next run in this workspace may begin. */
  release(): void;
}

export interface KeptRequest {
  /** Whose workspaces are counted together. */
  readonly owner: string;
  readonly key: string;
  readonly maxBytes: number;
}

export interface KeptWorkspacesOptions {
  readonly root: string;
  readonly ttlMs: number;
  /** All workspaces of one owner together. */
  readonly ownerBytes: number;
  readonly archive: WorkspaceArchive;
  readonly clock: Clock;
}

export class KeptWorkspaces {
  readonly #options: KeptWorkspacesOptions;
  readonly #folder: string;
  readonly #locks = new WorkspaceLocks();
  readonly #sizes = new KeptSizes();
  /** What runs under way may still write, by archive. */
  readonly #promised = new Map<string, number>();
  #sweptAt = 0;

  constructor(options: KeptWorkspacesOptions) {
    this.#options = options;
    this.#folder = join(options.root, 'sessions');
  }

  /** Waits for the run before it in the same workspace; rejects with the signal's reason when that aborts first. */
  async open({ owner, key, maxBytes }: KeptRequest, signal: AbortSignal): Promise<KeptWorkspace> {
    const folder = join(this.#folder, hashOf(owner));
    const path = join(folder, `${hashOf(key)}${ARCHIVE_SUFFIX}`);
    const unlock = await this.#locks.take(path, signal);
    try {
      this.#sweep();
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.#promise(await this.#sizes.of(folder), folder, path, maxBytes);
    } catch (error) {
      unlock();
      throw error;
    }
    return {
      restore: (to) => this.#restore(path, to, maxBytes),
      keep: (from) => this.#keep(path, from, maxBytes),
      release: () => {
        this.#promised.delete(path);
        unlock();
      },
    };
  }

  async #restore(path: string, folder: number, maxBytes: number): Promise<void> {
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) return;
    try {
      if (found.size > maxBytes) throw new Error(`the archive has ${found.size} bytes`);
      await this.#options.archive.unpack(path, folder);
      await touch(path, this.#options.clock);
    } catch (cause) {
      const message =
        'What this session has kept does not go into the workspace of this tool, and nothing was run: its workspace_bytes is too small.';
      throw failure(message, 'WORKSPACE_NOT_RESTORED', { partialSideEffects: false, cause });
    }
  }

  async #keep(path: string, folder: number, maxBytes: number): Promise<boolean> {
    const { archive, clock } = this.#options;
    const written = `${path}-${randomUUID()}`;
    try {
      const fits = await archive.pack(folder, written, maxBytes);
      if (fits) {
        await touch(written, clock);
        await this.#sizes.set(dirname(path), path, (await stat(written)).size);
        renameSync(written, path);
      }
      return fits;
    } catch (cause) {
      const message =
        'The command has run, but what it left in the workspace of its session could not be kept; the workspace is as it was before.';
      throw failure(message, 'WORKSPACE_NOT_KEPT', { cause });
    } finally {
      rmSync(written, { force: true });
    }
  }

  /** Counted with what runs under way may still write: so the figure is a wall. Nothing happens between look and promise. */
  #promise(sizes: ReadonlyMap<string, number>, folder: string, path: string, maxBytes: number): void {
    const { ownerBytes } = this.#options;
    const promised = [...this.#promised].filter(([other]) => other.startsWith(`${folder}/`));
    let total = promised.reduce((sum, [, bytes]) => sum + bytes, maxBytes);
    for (const [other, bytes] of sizes) if (other !== path && !this.#promised.has(other)) total += bytes;
    if (total <= ownerBytes) return void this.#promised.set(path, maxBytes);
    const message = `The workspaces of this tenant's sessions would take ${total} bytes together, more than the ${ownerBytes} of executors.shell.workspace_tenant_bytes; they go when they were not used for workspace_ttl_ms.`;
    throw toolFailure('WORKSPACES_FULL', message, { partialSideEffects: false });
  }

  async #remove(path: string): Promise<void> {
    await unlinkIfThere(path);
    await this.#sizes.remove(dirname(path), path);
  }

  #sweep(): void {
    const { clock, ttlMs } = this.#options;
    const now = clock.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    void this.#removeUnused(clock.wall() - ttlMs).catch(() => undefined);
  }

  async #removeUnused(before: number): Promise<void> {
    for (const owner of await readdir(this.#folder)) {
      const folder = join(this.#folder, owner);
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        const { mtimeMs } = await lstat(path);
        // What stands beside its workspace is of a gateway that was killed while it packed.
        if (mtimeMs < before && !this.#locks.isTaken(path)) await this.#remove(path);
      }
    }
  }
}

function touch(path: string, clock: Clock): Promise<void> {
  const now = clock.wall() / 1000;
  return utimes(path, now, now);
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  });
}

function failure(
  message: string,
  reason: Reason,
  extra: { readonly partialSideEffects?: boolean; readonly cause: unknown },
): ToolFailure {
  return toolFailure(reason, message, { retryable: false, ...extra });
}
