// Requests: every route of the gateway but calls of tools, typed by its OpenAPI document.
import { ConnectionError } from '../errors/gateway-error.ts';
import type { Routes } from '../generated/gateway.ts';
import type { CallDefaults } from './call-options.ts';
import { Deadline } from './deadline.ts';
import { followEvents } from './event-stream.ts';
import { delayMs } from './retry.ts';
import type { ServerEvent } from './sse.ts';
import { pathOf, problemOf, queryOf, type Incoming, type Transport } from './transport.ts';

export type Route = Routes;

export interface Terms {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

type Parts<Name extends keyof Route> = Omit<Route[Name], 'answer'>;
/** Names of the parts that have something which must be said. */
type Needed<Name extends keyof Route> = {
  [Part in keyof Parts<Name>]-?: object extends Parts<Name>[Part] ? never : Part;
}[keyof Parts<Name>];
type Asked<Name extends keyof Route> = Pick<Parts<Name>, Needed<Name>> & Partial<Parts<Name>> & Terms;
/** May be left out where the route needs nothing. */
export type RequestOptions<Name extends keyof Route> = [Needed<Name>] extends [never]
  ? [options?: Asked<Name>]
  : [options: Asked<Name>];

interface Loose extends Terms {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

/** May be sent again although the answer was lost. */
const REPEATABLE = new Set(['GET', 'PUT', 'DELETE']);

export class Requests {
  readonly #transport: Transport;
  readonly #defaults: CallDefaults;

  constructor(transport: Transport, defaults: CallDefaults) {
    this.#transport = transport;
    this.#defaults = defaults;
  }

  async request<Name extends keyof Route>(route: Name, options?: Loose): Promise<Route[Name]['answer']> {
    const [method = '', template = ''] = route.split(' ');
    const { path = {}, query = {} } = options ?? {};
    const target = `${pathOf(template, path)}${queryOf(query)}`;
    return (await this.send(method, target, options)).body as Route[Name]['answer'];
  }

  /** `target`: a path of the gateway, with its query. */
  async send(method: string, target: string, options: Loose = {}): Promise<Incoming> {
    const { retry: policy, timeoutMs } = this.#defaults;
    const deadline = new Deadline(options.timeoutMs ?? timeoutMs, options.signal);
    for (let attempt = 1; ; attempt += 1) {
      deadline.throwIfOver();
      const failure = await this.#try(method, target, options, deadline);
      if (!(failure instanceof Error)) return failure;
      if (attempt >= policy.maxAttempts || !mayRepeat(method, failure)) throw failure;
      const { retryAfterMs } = failure as { retryAfterMs?: number };
      await deadline.pause(delayMs(policy, attempt, retryAfterMs), failure);
    }
  }

  /** From the last id on, over lost connections. */
  events(
    path: string,
    { lastEventId, signal, timeoutMs = Infinity }: Terms & { readonly lastEventId?: string | undefined } = {},
  ): AsyncGenerator<ServerEvent> {
    return followEvents(this.#transport, { path, lastEventId, deadline: new Deadline(timeoutMs, signal) });
  }

  async #try(
    method: string,
    path: string,
    { body, headers }: Loose,
    deadline: Deadline,
  ): Promise<Incoming | Error> {
    try {
      const { signal } = deadline;
      const answer = await this.#transport.send({ method, path, body, signal, ...(headers && { headers }) });
      return answer.status < 400 ? answer : problemOf(answer);
    } catch (error) {
      if (error instanceof ConnectionError) return error;
      deadline.throwIfOver(error);
      throw error;
    }
  }
}

/** What the gateway says it did not do, and what may be done twice. */
function mayRepeat(method: string, failure: Error): boolean {
  if (failure instanceof ConnectionError) {
    const { notSent, status } = failure;
    const passing = status === undefined || status === 429 || status >= 502;
    return passing && (notSent || REPEATABLE.has(method));
  }
  return 'retryable' in failure && failure.retryable === true && REPEATABLE.has(method);
}
