// The turns of a stream: begun and ended by its client, counted by its session.
import type { Principal } from '../../../contract/call/principal.ts';
import type { Sessions } from '../../../sessions/sessions.ts';
import { sessionWithBudgets, type WireSession } from '../../session-view.ts';
import type { StreamState } from './stream-state.ts';

type TurnState = Pick<StreamState, 'turn' | 'isTurnNew' | 'isTurnOver'>;

export class StreamTurns {
  readonly #sessions: Pick<Sessions, 'get' | 'nextTurn'>;
  readonly #sessionId: string;
  #state: TurnState;

  constructor(
    sessions: Pick<Sessions, 'get' | 'nextTurn'>,
    { sessionId, turn, isTurnNew, isTurnOver }: StreamState,
  ) {
    this.#sessions = sessions;
    this.#sessionId = sessionId;
    this.#state = { turn, isTurnNew, isTurnOver };
  }

  get state(): TurnState {
    return this.#state;
  }

  get id(): string {
    return String(this.#state.turn);
  }

  /** No call is made until the next begins. */
  get isOver(): boolean {
    return this.#state.isTurnOver;
  }

  /** Something was called in it. */
  use(): void {
    if (this.#state.isTurnNew) this.#state = { ...this.#state, isTurnNew: false };
  }

  end(): void {
    this.#state = { ...this.#state, isTurnNew: false, isTurnOver: true };
  }

  /** The next; the first is there already, and is not begun again while nothing was called in it. Rejects with ToolFailure. */
  async start(principal: Principal): Promise<Pick<WireSession, 'budgets'>> {
    const view = await (this.#state.isTurnNew
      ? this.#sessions.get(principal, this.#sessionId)
      : this.#sessions.nextTurn(principal, this.#sessionId));
    this.#state = { turn: view.session.turn, isTurnNew: false, isTurnOver: false };
    return sessionWithBudgets(view);
  }
}
