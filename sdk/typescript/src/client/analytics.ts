// Figures of calls, and what they suggest. Takes a credential with `calls:read`.
import type { Analytics as Figures, Routes, Suggestions } from '../generated/gateway.ts';
import type { Requests, Terms } from './requests.ts';

export class Analytics {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Calls, failures, times and cost, by tool, agent and day; what fails and why; and what is never called. */
  get(query: Routes['GET /v1/analytics']['query'] = {}, terms: Terms = {}): Promise<Figures> {
    return this.#requests.request('GET /v1/analytics', { query, ...terms });
  }

  /** Tools to offer next, to put together, to mend and to leave out. */
  suggestions(query: Routes['GET /v1/suggestions']['query'] = {}, terms: Terms = {}): Promise<Suggestions> {
    return this.#requests.request('GET /v1/suggestions', { query, ...terms });
  }
}
