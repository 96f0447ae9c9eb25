// WatchTools: the names of all tools, then each change. A slow reader gets several changes as one: nothing is buffered.
import { Observable } from 'rxjs';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Viewer } from '../../../contract/tool/tool-function.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { filterFunctions } from '../../tool-view.ts';
import type { StreamPace } from '../stream/event-queue.ts';
import { encodeWatchEvent } from '../wire-types.ts';

export interface Watch {
  readonly catalog: ToolCatalog;
  readonly pace: StreamPace;
  /** Asked before every message: a credential withdrawn since ends the stream. Throws ToolFailure. Gives who watches. */
  readonly authorize: () => Viewer | Promise<Viewer>;
  /** Calls `end` when the gateway starts to drain; the returned function forgets it. */
  readonly onDrain: (end: (failure: ToolFailure) => void) => () => void;
  /** The error as the transport sends it. */
  readonly asError: (thrown: unknown) => Error;
}

/** What a watcher knows of each function: its definition and whether it is switched off. */
type Known = Map<string, string>;

export function watchTools({ catalog, pace, authorize, onDrain, asError }: Watch): Observable<Uint8Array> {
  return new Observable((subscriber) => {
    let known: Known = new Map();
    let { version } = catalog.snapshot();
    const guarded = (send: (viewer: Viewer) => void) => () => {
      const fail = (thrown: unknown) => subscriber.error(asError(thrown));
      try {
        const viewer = authorize();
        if (viewer instanceof Promise) viewer.then(send).catch(fail);
        else send(viewer);
      } catch (thrown) {
        fail(thrown);
      }
    };
    const sendSnapshot = guarded((viewer) => {
      known = knownNow(catalog, viewer);
      subscriber.next(encodeWatchEvent({ registryVersion: version, snapshot: { names: [...known.keys()] } }));
    });
    const sendChanges = guarded((viewer) => {
      const now = knownNow(catalog, viewer);
      const changes = changesBetween(known, now);
      const registryVersion = catalog.snapshot().version;
      if (registryVersion === version && isEmpty(changes)) return;
      known = now;
      version = registryVersion;
      subscriber.next(encodeWatchEvent({ registryVersion, changes }));
    });
    const onChange = () => {
      if (!pace.writableNeedDrain) sendChanges();
    };
    sendSnapshot();
    pace.on('drain', onChange);
    const stopListening = catalog.onChange(onChange);
    const forget = onDrain((failure) => subscriber.error(asError(failure)));
    return () => {
      pace.off('drain', onChange);
      stopListening();
      forget();
    };
  });
}

function knownNow(catalog: ToolCatalog, viewer: Viewer): Known {
  const known: Known = new Map();
  for (const { name, spec } of filterFunctions(catalog.snapshot(), {}, viewer)) {
    known.set(name, catalog.isDisabled(spec.name) ? `${spec.contentHash} off` : spec.contentHash);
  }
  return known;
}

interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

function changesBetween(before: Known, now: Known): Changes {
  const names = [...now.keys()];
  return {
    added: names.filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !now.has(name)),
    changed: names.filter((name) => before.has(name) && before.get(name) !== now.get(name)),
  };
}

function isEmpty({ added, removed, changed }: Changes): boolean {
  return added.length + removed.length + changed.length === 0;
}
