// HeldStreams: the streams that this replica holds, by id and by session: counted, and told to the log, from their first to their last.
import type { Connected } from './held-stream.ts';
import { HeldStream } from './held-stream.ts';
import type { Close } from './line.ts';
import type { StreamState } from './conversation/stream-state.ts';
import { ToolStream } from './conversation/tool-stream.ts';
import type { StreamParts } from './stream-parts.ts';
import { endSession } from './stream-sessions.ts';

export class HeldStreams {
  readonly #parts: StreamParts;
  readonly #streams = new Map<string, HeldStream>();
  /** The last that was begun on each. */
  readonly #ofSession = new Map<string, HeldStream>();

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  all(): readonly HeldStream[] {
    return [...this.#streams.values()];
  }

  find(id: string): HeldStream | undefined {
    return this.#streams.get(id);
  }

  ofSession(sessionId: string): HeldStream | undefined {
    return this.#ofSession.get(sessionId);
  }

  has(held: HeldStream): boolean {
    return this.#streams.get(held.stream.id) === held;
  }

  /** Nobody is connected to it yet. */
  add(state: StreamState, { speaker, line }: Connected, leave: () => void): HeldStream {
    const { caller, sessions, metrics, clock, log } = this.#parts;
    const stream = new ToolStream(state, speaker, {
      caller,
      sessions,
      counts: { said: (type) => metrics.message('out', type), leftOut: () => metrics.leftOut.add() },
      end: async (wanted) => {
        const by = held.connected?.speaker.principal;
        return wanted && by !== undefined && endSession(this.#parts, by, state.sessionId);
      },
      over: () => this.close(held, 'ended'),
    });
    const held: HeldStream = new HeldStream(stream, leave, clock.now());
    this.#streams.set(state.id, held);
    this.#ofSession.set(state.sessionId, held);
    metrics.open.add(1);
    const { id: principal } = speaker.principal;
    log.info({ ...logged(held), principal, transport: line.transport }, 'a stream has begun');
    return held;
  }

  /** It is no stream of this replica any more. */
  remove(held: HeldStream, reason: string): void {
    if (!this.has(held)) return;
    const { metrics, clock, log } = this.#parts;
    const { id, sessionId, received, state } = held.stream;
    this.#streams.delete(id);
    if (this.#ofSession.get(sessionId) === held) this.#ofSession.delete(sessionId);
    held.end();
    metrics.open.add(-1);
    metrics.ended(reason);
    const ms = Math.round(clock.now() - held.since);
    log.info({ ...logged(held), reason, received, sent: state.next - 1, ms }, 'a stream is over');
  }

  /** Its calls are given up, and its line is closed. */
  close(held: HeldStream, why: Close): void {
    if (!this.has(held)) return;
    const { connected } = held;
    held.stream.abort();
    this.remove(held, typeof why === 'string' ? why : why.reason.toLowerCase());
    connected?.line.close(why);
  }
}

export function logged({ stream }: HeldStream) {
  return { stream: stream.id, session: stream.sessionId, tenant: stream.owner.tenantId };
}
