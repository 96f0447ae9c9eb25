// One recording while it goes on: which calls it wants, its lines on the disk in the order they end, and its one end.
import { open, rename, type FileHandle } from 'node:fs/promises';
import { globMatcher, type GlobMatcher } from '../../lib/text/glob.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  RecordedCall,
  RecordingEnd,
  RecordingFacts,
  RecordingState,
  RecordingWish,
} from '../../ports/recordings.ts';
import { callLine, headLine, tailLine, type RecordingHead } from './recording-lines.ts';

/** Bytes that is kept free for the last line. */
const TAIL_BYTES = 128;

export interface RecordingPlace {
  /** Where it grows; `path` is where it lies once it is whole. */
  readonly part: string;
  readonly path: string;
}

export interface RecordingHooks {
  readonly clock: Clock;
  /** Once, when it wants no more calls. */
  readonly ended: (recording: RunningRecording) => void;
  /** Once, when its file is whole. */
  readonly closed: (recording: RunningRecording) => void;
  readonly failed: (error: unknown) => void;
}

export class RunningRecording {
  readonly wish: RecordingWish;
  readonly #head: RecordingHead;
  readonly #place: RecordingPlace;
  readonly #hooks: RecordingHooks;
  readonly #file: FileHandle;
  readonly #wantsTool: GlobMatcher;
  readonly #covered = new CoveredCalls();
  #tail: Promise<void> = Promise.resolve();
  #bytes: number;
  #taken = 0;
  #kept = 0;
  #dropped = 0;
  #under = 0;
  #broken = false;
  #end: RecordingEnd = 'running';
  #closing: Promise<void> | undefined;
  #disarm: () => void = () => {};

  private constructor(
    wish: RecordingWish,
    head: RecordingHead,
    place: RecordingPlace,
    file: FileHandle,
    hooks: RecordingHooks,
  ) {
    this.wish = wish;
    this.#head = head;
    this.#place = place;
    this.#file = file;
    this.#hooks = hooks;
    this.#wantsTool = wish.tools === undefined ? () => true : globMatcher(wish.tools);
    this.#bytes = Buffer.byteLength(headLine(head));
  }

  /** Rejects where the file cannot be made. */
  static async start(
    wish: RecordingWish,
    head: RecordingHead,
    place: RecordingPlace,
    hooks: RecordingHooks,
  ): Promise<RunningRecording> {
    const file = await open(place.part, 'wx', 0o600);
    const recording = new RunningRecording(wish, head, place, file, hooks);
    try {
      await file.appendFile(headLine(head));
    } catch (error) {
      await file.close();
      throw error;
    }
    recording.#disarm = hooks.clock.after(wish.ttlMs, () => void recording.stop('ttl'));
    return recording;
  }

  /** The order of the call, if it is wanted. A wanted call is kept or dropped. */
  take({ callId, parentId, tool, tenantId, sessionId }: RecordingFacts): number | undefined {
    const { wish } = this;
    if (this.#end !== 'running') return undefined;
    if (parentId !== undefined && this.#covered.addStep(callId, parentId)) return undefined;
    if (wish.tenantId !== undefined && wish.tenantId !== tenantId) return undefined;
    if (wish.sessionId !== undefined && wish.sessionId !== sessionId) return undefined;
    if (!this.#wantsTool(tool) || this.#taken - this.#dropped >= wish.maxCalls) return undefined;
    this.#covered.add(callId);
    this.#taken += 1;
    this.#under += 1;
    return this.#taken;
  }

  keep(callId: string, call: RecordedCall): void {
    this.#leave(callId);
    if (this.#end !== 'running') return;
    const line = callLine(call);
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes + TAIL_BYTES > this.wish.maxBytes) {
      void this.stop('max_bytes');
      return;
    }
    this.#bytes += bytes;
    this.#kept += 1;
    this.#append(line);
    if (this.#kept >= this.wish.maxCalls) void this.stop('max_calls');
  }

  /** There is nothing to keep of this call: it counts as not taken. */
  drop(callId: string): void {
    this.#leave(callId);
    this.#dropped += 1;
  }

  /** Ends it once; whatever is still under way is not in it. Resolves when the file is whole. */
  stop(end: Exclude<RecordingEnd, 'running'>): Promise<void> {
    return (this.#closing ??= this.#close(end));
  }

  state(): RecordingState {
    const { name, tenantId, sessionId, tools, startedAt } = this.#head;
    return {
      name,
      ended: this.#end,
      ...(tenantId !== undefined && { tenantId }),
      ...(sessionId !== undefined && { sessionId }),
      ...(tools !== undefined && { tools }),
      startedAt,
      calls: this.#kept,
      missed: this.#missed(),
      bytes: this.#bytes,
    };
  }

  /** Resolves to where the file is when what was kept so far is in it. */
  async written(): Promise<string> {
    await this.#tail;
    return this.#end === 'running' || this.#broken ? this.#place.part : this.#place.path;
  }

  #leave(callId: string): void {
    this.#under -= 1;
    this.#covered.delete(callId);
  }

  #missed(): number {
    return this.#taken - this.#dropped - this.#kept - (this.#end === 'running' ? this.#under : 0);
  }

  #append(line: string): void {
    this.#tail = this.#tail
      .then(() => this.#file.appendFile(line))
      .catch((error: unknown) => {
        this.#broken = true;
        this.#hooks.failed(error);
        void this.stop('write_error');
      });
  }

  async #close(end: Exclude<RecordingEnd, 'running'>): Promise<void> {
    this.#end = end;
    this.#disarm();
    this.#hooks.ended(this);
    const tail = tailLine({ ended: end, calls: this.#kept, missed: this.#missed() });
    this.#bytes += tail.length;
    // After a failed write the end of the file is not known: it stays what it is, and is mended at the next start.
    const finished = this.#tail.then(async () => {
      try {
        if (!this.#broken) await this.#file.appendFile(tail);
        await this.#file.sync();
      } finally {
        await this.#file.close();
      }
      if (!this.#broken) await rename(this.#place.part, this.#place.path);
    });
    this.#tail = finished.catch((error: unknown) => this.#hooks.failed(error));
    await this.#tail;
    this.#hooks.closed(this);
  }
}

/** Ids of calls that are being recorded, with those of all steps below them. */
class CoveredCalls {
  /** By id: the recorded call that it belongs to. */
  readonly #roots = new Map<string, string>();
  readonly #steps = new Map<string, string[]>();

  add(callId: string): void {
    this.#roots.set(callId, callId);
    this.#steps.set(callId, []);
  }

  /** False: the parent is not covered. */
  addStep(callId: string, parentId: string): boolean {
    const root = this.#roots.get(parentId);
    if (root === undefined) return false;
    this.#roots.set(callId, root);
    this.#steps.get(root)?.push(callId);
    return true;
  }

  delete(root: string): void {
    for (const step of this.#steps.get(root) ?? []) this.#roots.delete(step);
    this.#steps.delete(root);
    this.#roots.delete(root);
  }
}
