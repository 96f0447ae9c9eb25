// Watches files and folders: events of the system where it sends them, polling where it does not, content as the judge.
import { watch as watchFolder, type FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { statFingerprint } from './source-files.ts';

export interface WatchTarget {
  readonly paths: readonly string[];
  /** Files that connections refer to; they change with each load. */
  secretFiles(): readonly string[];
  /** Fingerprint of what was loaded last. */
  loaded(): string;
  /** Fingerprint of what is on disk now. */
  onDisk(): Promise<string>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Several events of one save make one check. */
const DEBOUNCE_MS = 100;
const LONGEST_DEBOUNCE_MS = 1000;
const POLL_MS = 1000;
/** Every so many polls the content is read although nothing seems to have happened: some mounts lie about times. */
const POLLS_PER_FULL_CHECK = 10;

/** Settles when the signal aborts, with every handle closed. Calls `changed` once per state that was not loaded. */
export async function watchFiles(
  target: WatchTarget,
  changed: () => void,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const watch = new FileWatch(target, changed);
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await watch.poll();
  await promise;
  await watch.close();
}

class FileWatch {
  readonly #target: WatchTarget;
  readonly #changed: () => void;
  readonly #folders = new Map<string, WatchedFolder>();
  #closed = false;
  #announced: string | undefined;
  #lastStat: string | undefined;
  #polls = 0;
  #wantedSince: number | undefined;
  #cancelPoll = nothing;
  #cancelCheck = nothing;
  #running: Promise<void> = Promise.resolve();

  constructor(target: WatchTarget, changed: () => void) {
    this.#target = target;
    this.#changed = changed;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelPoll();
    this.#cancelCheck();
    await this.#running;
    for (const { watcher } of this.#folders.values()) watcher.close();
  }

  /** One round, which arms the next. What it does is awaited by `close`. */
  async poll(): Promise<void> {
    await this.#alone(async () => {
      await this.#keepFoldersWatched();
      const seen = await statFingerprint(this.#target.paths, this.#target.secretFiles());
      const isDue = this.#polls % POLLS_PER_FULL_CHECK === 0;
      this.#polls += 1;
      if (isDue || seen !== this.#lastStat) this.#checkSoon();
      this.#lastStat = seen;
    });
    if (!this.#closed) this.#cancelPoll = this.#target.clock.after(POLL_MS, () => void this.poll());
  }

  /** Waits for a pause in the events, but not for ever. */
  #checkSoon(): void {
    const { clock } = this.#target;
    this.#wantedSince ??= clock.now();
    if (this.#closed || clock.now() - this.#wantedSince > LONGEST_DEBOUNCE_MS) return;
    this.#cancelCheck();
    this.#cancelCheck = clock.after(DEBOUNCE_MS, () => void this.#alone(() => this.#check()));
  }

  async #check(): Promise<void> {
    this.#wantedSince = undefined;
    const onDisk = await this.#target.onDisk();
    if (onDisk === this.#target.loaded()) this.#announced = undefined;
    else if (onDisk !== this.#announced && !this.#closed) {
      this.#announced = onDisk;
      this.#changed();
    }
  }

  /** One after the other; an error of one round is logged, and the next round comes. */
  #alone(work: () => Promise<void>): Promise<void> {
    this.#running = this.#running.then(async () => {
      if (this.#closed) return;
      await work().catch((error: unknown) =>
        this.#target.log.warn(
          { err: error },
          'the tool files could not be checked for changes: they are checked again',
        ),
      );
    });
    return this.#running;
  }

  /** Folders, not files: editors and Kubernetes replace files, and a watch on a replaced file hears nothing. */
  async #keepFoldersWatched(): Promise<void> {
    const wanted = new Map<string, string>();
    for (const path of [...this.#target.paths, ...this.#target.secretFiles()]) {
      const about = await stat(path).catch(() => undefined);
      const folder = about?.isDirectory() === true ? path : dirname(path);
      const identity = await stat(folder).catch(() => undefined);
      if (identity !== undefined) wanted.set(folder, `${identity.dev}:${identity.ino}`);
    }
    for (const [folder, { identity, watcher }] of this.#folders) {
      if (wanted.get(folder) === identity) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const [folder, identity] of wanted) if (!this.#folders.has(folder)) this.#open(folder, identity);
  }

  #open(folder: string, identity: string): void {
    try {
      const watcher = watchFolder(folder, { persistent: false }, () => this.#checkSoon());
      const drop = () => {
        watcher.close();
        if (this.#folders.get(folder)?.watcher === watcher) this.#folders.delete(folder);
      };
      watcher.on('error', drop);
      this.#folders.set(folder, { watcher, identity });
    } catch (error) {
      this.#target.log.debug({ err: error, folder }, 'no events from this folder: polling alone');
    }
  }
}

interface WatchedFolder {
  readonly watcher: FSWatcher;
  /** Device and inode: a folder that was replaced under its name is another folder. */
  readonly identity: string;
}

function nothing(): void {}
