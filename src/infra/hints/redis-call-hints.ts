// RedisCallHints: what replicas that share a Redis publish to each other about calls that run.
import type { CallHint, CallHints } from '../../ports/calls/call-hints.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { RedisClients } from '../redis/redis-clients.ts';

/** Anything else on the channel is not ours. */
const MESSAGE = /^(cancel|news) ([0-9a-f-]{36}(?:,[0-9a-f-]{36})*)$/;

export class RedisCallHints implements CallHints {
  readonly #clients: RedisClients;
  readonly #log: Log;
  readonly #channel: string;
  readonly #listeners = new Set<(hint: CallHint, callId: string) => void>();
  /** Of the same turn of the event loop: they go out as one message. */
  readonly #unsent = new Map<CallHint, Set<string>>();
  #hears = false;

  constructor(clients: RedisClients, log: Log) {
    this.#clients = clients;
    this.#log = log;
    this.#channel = `${clients.prefix}:calls:hints`;
  }

  publish(hint: CallHint, callId: string): void {
    const gathered = this.#unsent.get(hint);
    if (gathered !== undefined) return void gathered.add(callId);
    const callIds = new Set([callId]);
    this.#unsent.set(hint, callIds);
    setImmediate(() => {
      this.#unsent.delete(hint);
      this.#send(hint, [...callIds]);
    });
  }

  subscribe(listener: (hint: CallHint, callId: string) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#hears) this.#hear();
    return () => this.#listeners.delete(listener);
  }

  #send(hint: CallHint, callIds: readonly string[]): void {
    const message = `${hint} ${callIds.join(',')}`;
    this.#clients.coordination.publish(this.#channel, message).catch((error: unknown) => {
      this.#log.debug(
        { callIds, hint, err: error },
        'hints about calls did not reach Redis: other replicas notice by polling',
      );
      // Those in this process need no Redis.
      this.#pass(hint, callIds);
    });
  }

  #pass(hint: CallHint, callIds: readonly string[]): void {
    for (const callId of callIds) for (const listener of this.#listeners) listener(hint, callId);
  }

  #hear(): void {
    this.#hears = true;
    const heard = (message: string) => {
      const [, hint, callIds] = MESSAGE.exec(message) ?? [];
      if (hint !== undefined && callIds !== undefined) this.#pass(hint as CallHint, callIds.split(','));
    };
    const deaf = 'hints about calls are not received: changes are noticed by polling';
    this.#clients.hear(this.#channel, heard, deaf);
  }
}
