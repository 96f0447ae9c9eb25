// HeldResources: what calls made in this thread that can call back later, and is not closed; `unref` changes nothing about it.
import { createHook, type HookCallbacks } from 'node:async_hooks';
import { getCallSites } from 'node:util';

/** Everything else that calls back is a request, which keeps its thread alive, or belongs to one of these. */
const HELD: ReadonlySet<string> = new Set([
  'FSEVENTWRAP',
  'MESSAGEPORT',
  'PIPESERVERWRAP',
  'PIPEWRAP',
  'PROCESSWRAP',
  'SIGNALWRAP',
  'STATWATCHER',
  'TCPSERVERWRAP',
  'TCPWRAP',
  'Timeout',
  'UDPWRAP',
]);

/**
 * `fetch` and `http.Agent` keep connections for the next request, with timers for them. No code of a handler runs when
 * something happens to those; while one is in use, it keeps its thread alive.
 */
const KEEP_CONNECTIONS = ['node:internal/deps/undici', 'node:_http_agent'];
const FRAMES = 20;

export class HeldResources {
  readonly #open = new Set<number>();

  constructor(isInCall: () => boolean) {
    const isKept = (): boolean =>
      getCallSites(FRAMES).some(({ scriptName }) =>
        KEEP_CONNECTIONS.some((name) => scriptName.startsWith(name)),
      );
    // `trackPromises` is newer than the types of Node; where it is not known, promises are merely slower.
    const hooks: HookCallbacks & { readonly trackPromises: boolean } = {
      init: (id, type) => {
        if (HELD.has(type) && isInCall() && !isKept()) this.#open.add(id);
      },
      destroy: (id) => this.#open.delete(id),
      trackPromises: false,
    };
    createHook(hooks).enable();
  }

  get any(): boolean {
    return this.#open.size > 0;
  }
}
