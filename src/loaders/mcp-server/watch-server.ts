// Looks whether a server's list is another one: now and then, when the server says so, and never as often as it likes.
import { AWAY } from '../../lib/files/poll-content.ts';
import { pause } from '../../lib/timers/pause.ts';
import type { Clock } from '../../ports/clock.ts';
import type { McpServer } from '../../ports/egress/mcp-servers.ts';

export interface ServerWatch {
  readonly clock: Clock;
  readonly everyMs: number;
  /** Until the server can be asked again. */
  readonly awayMs: number;
  readonly random: () => number;
  server(): McpServer | undefined;
  /** Fingerprint of what was loaded last. */
  loaded(): string;
  /** Of what is there now. */
  current(signal: AbortSignal): Promise<string>;
}

/** However often a server announces changes. */
const LEAST_PAUSE_MS = 5_000;
/** Many gateways must not ask one server in the same moment. */
const JITTER = 0.2;

/** Settles when the signal aborts. */
export async function watchServer(
  watch: ServerWatch,
  changed: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random } = watch;
  const told = new Announcements();
  let announced: string | undefined;
  try {
    while (!signal.aborted) {
      told.listenTo(watch.server());
      await pause(clock, LEAST_PAUSE_MS, signal);
      const rest = (watch.loaded() === AWAY ? watch.awayMs : watch.everyMs) - LEAST_PAUSE_MS;
      const jittered = Math.max(0, rest) * (1 - JITTER / 2 + JITTER * random());
      if (!told.take()) await pause(clock, jittered, AbortSignal.any([signal, told.next()]));
      told.take();
      if (signal.aborted) return;
      const now = await watch.current(signal);
      const isKnown = now === watch.loaded();
      // A list that is refused is announced once; one that could not be loaded whole, at every look.
      const isNew = now !== announced || watch.loaded() === AWAY;
      if (!isKnown && isNew && !signal.aborted) changed();
      announced = isKnown ? undefined : now;
    }
  } finally {
    told.stop();
  }
}

/** What a server says of its changes, until somebody takes note. */
class Announcements {
  #server: McpServer | undefined;
  #stop: () => void = () => undefined;
  #has = false;
  #wake = new AbortController();

  listenTo(server: McpServer | undefined): void {
    if (server === this.#server) return;
    this.#stop();
    this.#server = server;
    this.#stop =
      server?.onToolsChanged(() => {
        this.#has = true;
        this.#wake.abort();
      }) ?? (() => undefined);
  }

  /** Aborts at the next announcement. */
  next(): AbortSignal {
    this.#wake = new AbortController();
    return this.#wake.signal;
  }

  take(): boolean {
    const had = this.#has;
    this.#has = false;
    return had;
  }

  stop(): void {
    this.#stop();
  }
}
