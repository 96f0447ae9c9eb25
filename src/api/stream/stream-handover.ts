// Streams go on: on another connection to this replica, or from one replica to another, through the place where they are parked.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { sessionWithBudgets } from '../session-view.ts';
import { demand } from '../rest/management/permissions.ts';
import { hashOf, isTokenOf, streamOf } from './conversation/stream-token.ts';
import type { Speaker, StreamState } from './conversation/stream-state.ts';
import type { Connected, HeldStream } from './held-stream.ts';
import { logged, type HeldStreams } from './held-streams.ts';
import type { Close } from './line.ts';
import type { ClientMessageOf } from './messages/client-messages.ts';
import { readState, stateJson } from './parked-state.ts';
import type { StreamParts } from './stream-parts.ts';
import type { StreamSlots } from './stream-slots.ts';

/** How long another replica may take to hand a stream over: as long as the calls that are under way in it. */
const TAKE_WITHIN_MS = 60_000;

export class StreamHandover {
  readonly #parts: StreamParts;
  readonly #held: HeldStreams;
  readonly #slots: StreamSlots;

  constructor(parts: StreamParts, held: HeldStreams, slots: StreamSlots) {
    this.#parts = parts;
    this.#held = held;
    this.#slots = slots;
  }

  /** Rejects with ToolFailure. */
  async resume(said: ClientMessageOf<'resume'>, by: Connected): Promise<HeldStream> {
    const { metrics } = this.#parts;
    try {
      const id = streamOf(said.resume_token);
      if (id === undefined) throw notThere();
      const here = this.#held.find(id);
      const held = here ?? (await this.#take(id, said, by));
      if (here !== undefined) checkOwner(here.stream.owner, said.resume_token, by.speaker);
      await this.#connect(held, said.last_seq, by);
      metrics.resumed(here === undefined ? 'elsewhere' : 'here');
      return held;
    } catch (error) {
      metrics.resumed('refused');
      throw error;
    }
  }

  /** Another replica asks for it. False: it is not here. */
  give(key: string): boolean {
    const held = this.#held.all().find(({ stream }) => keyOf(stream.owner.tokenHash, stream.id) === key);
    if (held === undefined) return false;
    held.stream.drain();
    void this.park(held, replaced());
    return true;
  }

  /** When its calls have ended. */
  async park(held: HeldStream, why: Close): Promise<void> {
    const { parking, terms, log } = this.#parts;
    const { stream } = held;
    await stream.idle();
    if (!this.#held.has(held)) return;
    const { connected } = held;
    const { id, state } = stream;
    this.#held.remove(held, 'parked');
    try {
      const json = stateJson(state);
      if (json !== undefined) await parking.park(keyOf(state.tokenHash, id), json, terms.resumeForMs);
    } catch (err) {
      log.warn(
        { ...logged(held), err },
        'a stream could not be kept for another replica: its client has to start another one',
      );
    }
    connected?.line.close(why);
  }

  async #connect(held: HeldStream, seq: number, by: Connected): Promise<void> {
    const { stream } = held;
    const view = await this.#parts.sessions.get(by.speaker.principal, stream.sessionId);
    if (!this.#held.has(held)) throw notThere();
    if (!stream.keeps(seq)) throw tooFar();
    held.connected?.line.close(replaced());
    const { id: streamId, received, openCalls } = stream;
    const session = sessionWithBudgets(view);
    by.line.send({ type: 'resumed', streamId, session, received, openCalls });
    held.connect(by, seq);
  }

  async #take(
    id: string,
    { resume_token: token }: ClientMessageOf<'resume'>,
    by: Connected,
  ): Promise<HeldStream> {
    const { parking, terms, log } = this.#parts;
    const key = keyOf(hashOf(token), id);
    const text = await parking.take(key, TAKE_WITHIN_MS).catch((err: unknown) => {
      log.warn(
        { err },
        'other replicas cannot be asked for a stream: its client is told to start another one',
      );
      return undefined;
    });
    const state = text === undefined ? undefined : readState(text);
    if (text === undefined || state === undefined) throw notThere();
    try {
      checkOwner(state, token, by.speaker);
      const held = this.#held.add(state, by, this.#slots.enter(by.speaker.principal));
      held.disconnect(this.#parts.clock.after(terms.resumeForMs, () => this.#held.remove(held, 'lost')));
      return held;
    } catch (error) {
      // It stays where its client can come for it again.
      await parking.park(key, text, terms.resumeForMs).catch(() => undefined);
      throw error;
    }
  }
}

export function replaced(): ToolFailure {
  return toolFailure('STREAM_REPLACED', 'Another connection has taken the place of this one.');
}

/** Only who has the token can say it. */
function keyOf(tokenHash: string, id: string): string {
  return `${id}_${tokenHash}`;
}

/** Nobody learns whether there is a stream that is not theirs. */
function checkOwner(
  owner: Pick<StreamState, 'principalId' | 'tenantId' | 'tokenHash'>,
  token: string,
  { principal }: Speaker,
): void {
  const isTheirs = owner.principalId === principal.id && owner.tenantId === principal.tenantId;
  if (!isTheirs || !isTokenOf(token, owner.tokenHash)) throw notThere();
  demand(principal, 'tools:call');
}

function notThere(): ToolFailure {
  return toolFailure(
    'STREAM_NOT_FOUND',
    'There is no stream of this token for this caller: start another one, with the session.',
  );
}

function tooFar(): ToolFailure {
  return toolFailure(
    'STREAM_TOO_FAR',
    'What came after last_seq is not kept any more: start another stream, with the session.',
  );
}
