// WatchTools: the names of all tools, then each change. A slow reader gets several changes as one: nothing is buffered.
import { Observable, type Subscriber } from 'rxjs';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Viewer } from '../../../contract/tool/tool-function.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { inSlices, yieldToLoop } from '../../../lib/concurrency/in-slices.ts';
import type { OneByOne } from '../../../lib/concurrency/one-by-one.ts';
import { shownIn } from '../../tool-view.ts';
import type { StreamPace } from '../stream/event-queue.ts';
import { encodeWatchEvent } from '../wire-types.ts';

export interface Watch {
  readonly catalog: ToolCatalog;
  readonly pace: StreamPace;
  /** Of all watchers: one looks at a time, in slices, so that a change holds nobody up however many watch. */
  readonly turns: OneByOne;
  /** Asked before every message: a credential withdrawn since ends the stream. Throws ToolFailure. Gives who watches. */
  readonly authorize: () => Viewer | Promise<Viewer>;
  /** Calls `end` when the gateway starts to drain; the returned function forgets it. */
  readonly onDrain: (end: (failure: ToolFailure) => void) => () => void;
  /** The error as the transport sends it. */
  readonly asError: (thrown: unknown) => Error;
}

/** What a watcher knows of each function: its definition and whether it is switched off. */
type Known = ReadonlyMap<string, string>;

interface Picture {
  readonly version: string;
  readonly known: Known;
}

/** Functions that are looked at before somebody else may have the turn. */
const SLICE = 256;

export function watchTools(watch: Watch): Observable<Uint8Array> {
  return new Observable((subscriber) => {
    const watcher = new Watcher(watch, subscriber);
    const stopListening = watch.catalog.onChange(watcher.changed);
    watch.pace.on('drain', watcher.drained);
    const forget = watch.onDrain((failure) => subscriber.error(watch.asError(failure)));
    watcher.changed();
    return () => {
      watch.pace.off('drain', watcher.drained);
      stopListening();
      forget();
    };
  });
}

class Watcher {
  readonly #watch: Watch;
  readonly #subscriber: Subscriber<Uint8Array>;
  #told: Picture | undefined;
  #isLooking = false;
  #hasChanged = false;

  constructor(watch: Watch, subscriber: Subscriber<Uint8Array>) {
    this.#watch = watch;
    this.#subscriber = subscriber;
  }

  readonly changed = (): void => {
    this.#hasChanged = true;
    void this.#look();
  };

  readonly drained = (): void => void this.#look();

  /** What changes while it looks is told by one more message, and to a reader that is behind once it takes more. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#hasChanged && !this.#watch.pace.writableNeedDrain && !this.#subscriber.closed) {
        this.#hasChanged = false;
        await this.#tell();
      }
    } catch (thrown) {
      this.#subscriber.error(this.#watch.asError(thrown));
    } finally {
      this.#isLooking = false;
    }
  }

  async #tell(): Promise<void> {
    const { authorize, turns } = this.#watch;
    const viewer = await authorize();
    const event = await turns.run('watchers', () => this.#compare(viewer));
    if (event === undefined || this.#subscriber.closed) return;
    // Its turn may have been long in coming.
    await authorize();
    this.#subscriber.next(encodeWatchEvent(event));
  }

  /** Undefined: there is nothing to tell. */
  async #compare(viewer: Viewer) {
    await yieldToLoop();
    if (this.#subscriber.closed) return undefined;
    const now = await inSlices(pictureFor(viewer, this.#watch.catalog));
    const event = await inSlices(eventBetween(this.#told, now));
    if (event !== undefined) this.#told = now;
    return event;
  }
}

function* pictureFor(viewer: Viewer, catalog: ToolCatalog): Generator<void, Picture> {
  const snapshot = catalog.snapshot();
  const isShown = shownIn(snapshot, viewer);
  const known = new Map<string, string>();
  for (const [at, fn] of snapshot.functions.entries()) {
    if (at % SLICE === 0) yield;
    if (!isShown(fn)) continue;
    const { contentHash, name } = fn.spec;
    known.set(fn.name, catalog.isDisabled(name) ? `${contentHash} off` : contentHash);
  }
  return { version: snapshot.version, known };
}

/** Undefined: there is nothing to tell. */
function* eventBetween(told: Picture | undefined, { version, known }: Picture) {
  if (told === undefined) return { registryVersion: version, snapshot: { names: [...known.keys()] } };
  const changes = yield* changesBetween(told.known, known);
  const { added, removed, changed } = changes;
  const isSame = added.length + removed.length + changed.length === 0;
  return isSame && told.version === version ? undefined : { registryVersion: version, changes };
}

function* changesBetween(before: Known, now: Known) {
  const added: string[] = [];
  const removed: string[] = [];
  const changed: string[] = [];
  let at = 0;
  for (const [name, definition] of now) {
    if (at++ % SLICE === 0) yield;
    if (!before.has(name)) added.push(name);
    else if (before.get(name) !== definition) changed.push(name);
  }
  for (const name of before.keys()) {
    if (at++ % SLICE === 0) yield;
    if (!now.has(name)) removed.push(name);
  }
  return { added, removed, changed };
}
