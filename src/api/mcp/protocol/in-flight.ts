// InFlight: the requests of 2025-era sessions that are under way, so that notifications/cancelled finds the one it means.
import type { Asked, Exchange } from './exchange.ts';

const NOTHING = () => undefined;

export class InFlight {
  readonly #open = new Map<string, Exchange>();

  /** What takes it out again. A request without a session is ended by closing its connection alone. */
  enter(exchange: Exchange): () => void {
    const key = keyOf(exchange.asked, exchange.asked.id);
    if (key === undefined) return NOTHING;
    this.#open.set(key, exchange);
    return () => {
      if (this.#open.get(key) === exchange) this.#open.delete(key);
    };
  }

  /** `by`: of the notification, which has to come with the session and the credential of the request. */
  cancel(by: Asked, id: unknown): void {
    const key = keyOf(by, id);
    if (key !== undefined) this.#open.get(key)?.cancel();
  }
}

function keyOf({ session, environment: { credential } }: Asked, id: unknown): string | undefined {
  return session === undefined ? undefined : JSON.stringify([session, credential, id]);
}
