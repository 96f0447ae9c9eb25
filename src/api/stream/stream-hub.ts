// StreamHub: the streams of this replica: who may begin one or goes on with one, and what becomes of those whose connection was lost.
import { uuidv7 } from '../../lib/ids.ts';
import { shuttingDown } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { every, type Repeated } from '../../lib/timers/every.ts';
import { sessionWithBudgets } from '../session-view.ts';
import { demand } from '../rest/management/permissions.ts';
import { newToken } from './conversation/stream-token.ts';
import type { Connected, HeldStream } from './held-stream.ts';
import { HeldStreams } from './held-streams.ts';
import type { Close, Line } from './line.ts';
import type { ClientMessageOf } from './messages/client-messages.ts';
import { replaced, StreamHandover } from './stream-handover.ts';
import type { StreamParts } from './stream-parts.ts';
import { sessionFor } from './stream-sessions.ts';
import { StreamSlots } from './stream-slots.ts';

const LOOK_MS = 1_000;

export class StreamHub {
  readonly parts: StreamParts;
  readonly #slots: StreamSlots;
  readonly #held: HeldStreams;
  readonly #handover: StreamHandover;
  readonly #looks: Repeated;
  readonly #unserve: () => void;
  #isDraining = false;

  constructor(parts: StreamParts) {
    this.parts = parts;
    this.#slots = new StreamSlots(parts.terms);
    this.#held = new HeldStreams(parts);
    this.#handover = new StreamHandover(parts, this.#held, this.#slots);
    const failed = (err: unknown) =>
      parts.log.error({ err }, 'streams could not be looked through; tried again');
    this.#looks = every(parts.clock, { ms: LOOK_MS }, () => this.#look(), failed);
    this.#unserve = parts.parking.serve({
      wanted: (key) => this.#handover.give(key),
      replaced: (sessionId, by) => this.#replace(sessionId, by),
    });
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Rejects with ToolFailure. */
  async start(said: ClientMessageOf<'start'>, by: Connected): Promise<HeldStream> {
    if (this.#isDraining) throw shuttingDown();
    const { principal } = by.speaker;
    demand(principal, 'tools:call');
    const leave = this.#slots.enter(principal);
    try {
      return await this.#begin(said, by, leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Rejects with ToolFailure. */
  resume(said: ClientMessageOf<'resume'>, by: Connected): Promise<HeldStream> {
    if (this.#isDraining) return Promise.reject(shuttingDown());
    return this.#handover.resume(said, by);
  }

  /** Its connection is gone. Nothing where another has taken its place. */
  lost(held: HeldStream, line: Line): void {
    if (held.connected?.line !== line || !this.#held.has(held)) return;
    const { clock, terms, metrics } = this.parts;
    metrics.detached.add(1);
    const forget = clock.after(terms.resumeForMs, () => {
      held.stream.abort();
      this.#held.remove(held, 'lost');
    });
    held.disconnect(() => {
      forget();
      metrics.detached.add(-1);
    });
  }

  close(held: HeldStream, why: Close): void {
    this.#held.close(held, why);
  }

  /** Nothing more is taken. Calls under way go on; each stream is closed, to go on elsewhere, when its own have ended. */
  drain(): void {
    this.#isDraining = true;
    for (const held of this.#held.all()) {
      held.connected?.line.send({ type: 'reconnect' });
      held.stream.drain();
      void this.#handover.park(held, 'draining');
    }
  }

  async stop(): Promise<void> {
    this.#isDraining = true;
    this.#unserve();
    await this.#looks.stop();
    for (const held of this.#held.all()) this.#held.close(held, 'draining');
  }

  async #begin(said: ClientMessageOf<'start'>, by: Connected, leave: () => void): Promise<HeldStream> {
    const { clock, parking, terms } = this.parts;
    const view = await sessionFor(this.parts, by.speaker.principal, said);
    const { id: sessionId, tenantId, turn } = view.session;
    const id = uuidv7(clock.wall());
    const { text: resumeToken, hash: tokenHash } = newToken(id);
    const isDeclared = said.session_id === undefined;
    const { language } = said;
    const principalId = by.speaker.principal.id;
    const whose = { id, tokenHash, principalId, tenantId, sessionId, isDeclared, language };
    const conversation = { turn, isTurnNew: isDeclared, isTurnOver: false, received: 0, named: 0 };
    // Of a session that is new there is no other. What is said of it anyway might be heard after its next stream has begun.
    if (!isDeclared) {
      this.#replace(sessionId, id);
      parking.replace(sessionId, id);
    }
    const held = this.#held.add({ ...whose, ...conversation, next: 1, kept: [] }, by, leave);
    const { resumeForMs } = terms;
    by.line.send({
      type: 'started',
      streamId: id,
      resumeToken,
      resumeForMs,
      session: sessionWithBudgets(view),
    });
    held.connect(by, 0);
    return held;
  }

  /** A session has one stream at a time. */
  #replace(sessionId: string, by: string): void {
    const before = this.#held.ofSession(sessionId);
    if (before !== undefined && before.stream.id !== by) this.#held.close(before, replaced());
  }

  /** Who may not speak any more is sent away, within a second. */
  async #look(): Promise<void> {
    const look = async (held: HeldStream) => {
      try {
        await held.connected?.stillAllowed();
      } catch (error) {
        if (!(error instanceof ToolFailure)) throw error;
        this.#held.close(held, error);
      }
    };
    await Promise.all(this.#held.all().map(look));
  }
}
