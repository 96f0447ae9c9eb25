// Sessions: conversations that the gateway knows, each with a client for its calls.
import type { NewSession, Routes, Session, SessionPage } from '../generated/gateway.ts';
import type { GatewayClient } from './client.ts';
import type { Requests, Terms } from './requests.ts';

export class Sessions {
  readonly #requests: Requests;
  readonly #clientFor: (sessionId: string) => GatewayClient;

  constructor(requests: Requests, clientFor: (sessionId: string) => GatewayClient) {
    this.#requests = requests;
    this.#clientFor = clientFor;
  }

  async create(session: NewSession = {}, terms: Terms = {}): Promise<OpenSession> {
    const made = await this.#requests.request('POST /v1/sessions', { body: session, ...terms });
    return this.open(made.id);
  }

  /** One that was declared before. */
  open(id: string): OpenSession {
    return new OpenSession(id, this.#requests, this.#clientFor(id));
  }

  list(query: Routes['GET /v1/sessions']['query'] = {}, terms: Terms = {}): Promise<SessionPage> {
    return this.#requests.request('GET /v1/sessions', { query, ...terms });
  }
}

/** `client` makes the calls of this session. */
export class OpenSession {
  readonly id: string;
  readonly client: GatewayClient;
  readonly #requests: Requests;

  constructor(id: string, requests: Requests, client: GatewayClient) {
    this.id = id;
    this.#requests = requests;
    this.client = client;
  }

  get(terms: Terms = {}): Promise<Session> {
    return this.#requests.request('GET /v1/sessions/{id}', { path: { id: this.id }, ...terms });
  }

  /** Begins the next turn. Its number is to be said as context.turn_id where another replica may get the call. */
  beginTurn(terms: Terms = {}): Promise<Session> {
    return this.#requests.request('POST /v1/sessions/{id}/turns', { path: { id: this.id }, ...terms });
  }

  end(terms: Terms = {}): Promise<Session> {
    return this.#requests.request('DELETE /v1/sessions/{id}', { path: { id: this.id }, ...terms });
  }
}
