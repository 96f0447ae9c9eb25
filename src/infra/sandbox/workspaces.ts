// Workspaces: folders that commands write to, kept under a key or gone after the run; one run at a time in each.
import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { lstat, opendir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessStarter } from '../process/process-starter.ts';
import { O_PATH, type Owner } from './workspace-files.ts';

const SWEEP_EVERY_MS = 10 * 60_000;
/** What a name costs besides its content, and where counting ends: nobody needs more. */
const ENTRY_BYTES = 1024;
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 32;

export interface WorkspaceFolder {
  /** O_PATH; open until `release`. */
  readonly fd: number;
  /** Bytes in it, links not followed; Infinity where there are too many files to count. */
  usage(): Promise<number>;
  /** `overfull`: what it holds is given up. */
  release(overfull: boolean): Promise<void>;
}

export interface WorkspacesOptions {
  readonly root: string;
  readonly ttlMs: number;
  readonly owner: Owner | undefined;
  readonly starter: ProcessStarter;
  readonly clock: Clock;
}

export class Workspaces {
  readonly #options: WorkspacesOptions;
  readonly #kept: string;
  readonly #temporary: string;
  readonly #turns = new Map<string, Promise<void>>();
  #sweptAt = 0;

  constructor(options: WorkspacesOptions) {
    this.#options = options;
    this.#kept = join(options.root, 'kept');
    this.#temporary = join(options.root, 'temporary');
  }

  /** Waits for the run before it in the same workspace; rejects with the signal's reason when that aborts first. */
  async keep(key: string, signal: AbortSignal): Promise<WorkspaceFolder> {
    const path = join(this.#kept, createHash('sha256').update(key).digest('hex'));
    const endTurn = await this.#turn(path, signal);
    try {
      this.#sweep();
      letThrough(this.#options);
      const fd = this.#make(path);
      const now = this.#options.clock.now() / 1000;
      utimesSync(path, now, now);
      return {
        fd,
        usage: () => usageOf(path),
        release: async (overfull) => {
          closeSync(fd);
          if (overfull) await this.#remove(path);
          endTurn();
        },
      };
    } catch (error) {
      endTurn();
      throw error;
    }
  }

  temporary(): WorkspaceFolder {
    const path = join(this.#temporary, randomUUID());
    const fd = this.#make(path);
    return {
      fd,
      usage: () => usageOf(path),
      release: async () => {
        closeSync(fd);
        await this.#remove(path);
      },
    };
  }

  /** A descriptor that gives this content and nothing else; nothing of it stays on the disk. */
  lend(content: Buffer | string): number {
    mkdirSync(this.#temporary, { recursive: true, mode: 0o711 });
    const path = join(this.#temporary, randomUUID());
    writeFileSync(path, content, { mode: 0o600 });
    try {
      return openSync(path, 'r');
    } finally {
      unlinkSync(path);
    }
  }

  async #turn(path: string, signal: AbortSignal): Promise<() => void> {
    const before = this.#turns.get(path);
    let end = () => undefined as void;
    const mine = new Promise<void>((resolve) => (end = resolve));
    const after = (before ?? Promise.resolve()).then(() => mine);
    this.#turns.set(path, after);
    void after.then(() => this.#turns.get(path) === after && this.#turns.delete(path));
    try {
      if (before !== undefined) await unlessAborted(before, signal);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  #make(path: string): number {
    const { owner } = this.#options;
    // The sandbox's user goes through, and looks into nothing but what is its own.
    mkdirSync(dirname(path), { recursive: true, mode: 0o711 });
    mkdirSync(path, { recursive: true, mode: 0o700 });
    // Nobody but the gateway can have put something else in its place.
    const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
    return fd;
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

  #sweep(): void {
    const { clock, ttlMs } = this.#options;
    const now = clock.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    void this.#removeUnused(now - ttlMs).catch(() => undefined);
  }

  async #removeUnused(before: number): Promise<void> {
    for (const name of await readdir(this.#kept)) {
      const path = join(this.#kept, name);
      if (this.#turns.has(path) || (await lstat(path)).mtimeMs >= before) continue;
      const endTurn = await this.#turn(path, new AbortController().signal);
      await this.#remove(path).finally(endTurn);
    }
  }
}

/**
 * bwrap walks to the folder as the sandbox's user. The folder above, the gateway's data, lets that user's own group
 * pass and nobody else; the operator's folders above it are the operator's to open.
 */
function letThrough({ root, owner }: WorkspacesOptions): void {
  if (owner === undefined) return;
  const own = dirname(root);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const { mode, gid } = statSync(own);
  if ((mode & 0o001) === 0 && !(gid === owner.gid && (mode & 0o010) !== 0)) {
    chownSync(own, 0, owner.gid);
    chmodSync(own, (mode & 0o7707) | 0o010);
  }
  for (let path = dirname(own); path !== dirname(path); path = dirname(path)) {
    if ((statSync(path).mode & 0o001) !== 0) continue;
    const message = `Kept workspaces cannot be reached by the sandbox's user: ${path} lets nobody else pass. Set executors.shell.workspace_dir.`;
    throw new ToolFailure('UNAVAILABLE', message, {
      reason: 'WORKSPACE_UNREACHABLE',
      retryable: false,
      partialSideEffects: false,
    });
  }
}

async function unlessAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  await Promise.race([turn, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

/** Programs may be at work in it meanwhile: the figure is for limits, not for accounts. */
async function usageOf(root: string): Promise<number> {
  const folders: { readonly path: string; readonly depth: number }[] = [{ path: root, depth: 0 }];
  let bytes = 0;
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (folder.depth > MAX_DEPTH) return Infinity;
    for await (const entry of await opendir(folder.path).catch(() => [])) {
      entries += 1;
      if (entries > MAX_ENTRIES) return Infinity;
      const path = join(folder.path, entry.name);
      const { blocks } = await lstat(path).catch(() => ({ blocks: 0 }));
      bytes += blocks * 512 + ENTRY_BYTES;
      if (entry.isDirectory()) folders.push({ path, depth: folder.depth + 1 });
    }
  }
  return bytes;
}
