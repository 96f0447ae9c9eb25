// ChangeStream: what a 2025-era client is told beside its requests: one GET that stays open, and is opened again when it ends.
import { backoffMs } from '../../lib/timers/backoff.ts';
import { pause } from '../../lib/timers/pause.ts';
import { isEvents, oneLine, readMessage, type BridgeEnds, type Headers } from './bridge-ends.ts';
import { streamMessages } from './stream-messages.ts';

/** Before a stream that has ended is opened again; longer after each try that opened none. */
const REOPEN = { firstMs: 1_000, lastMs: 30_000, least: 0.5 };
/** Of 4xx, those that another try may find otherwise. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
const NOT_OFFERED = 405;

export class ChangeStream {
  readonly #ends: BridgeEnds;
  #stopped = new AbortController();

  constructor(ends: BridgeEnds) {
    this.#ends = ends;
  }

  /** One at a time: the stream of the session before ends. */
  start(session: Headers): void {
    this.stop();
    this.#stopped = new AbortController();
    void this.#listen(session, this.#stopped.signal);
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #listen(session: Headers, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#ends;
    let failures = 0;
    while (!signal.aborted) {
      const status = await this.#relay(session, signal);
      if (signal.aborted) return;
      if (status !== undefined && status >= 400 && status < 500 && !PASSING.has(status)) {
        if (status !== NOT_OFFERED) this.#giveUp(status);
        return;
      }
      failures = status === 200 ? 0 : failures + 1;
      await pause(clock, backoffMs(REOPEN, failures, random), signal);
    }
  }

  /** Resolves with the status when the stream has ended; undefined: there is no gateway. Never rejects. */
  async #relay(session: Headers, signal: AbortSignal): Promise<number | undefined> {
    let status: number | undefined;
    try {
      const stream = await this.#ends.request(undefined, session, signal);
      status = stream.statusCode;
      if (status !== 200 || !isEvents(stream)) stream.resume();
      else
        for await (const text of streamMessages(stream))
          if (readMessage(text) !== undefined) this.#ends.write(oneLine(text));
    } catch {
      // It broke off, or there is no gateway: the next try tells.
    }
    return status;
  }

  #giveUp(status: number): void {
    const data =
      `The gateway refused the stream of changes with HTTP ${status}: changes of the tools are not told any more. ` +
      (status === 404 ? 'Initialize again.' : 'See whether the API key is still good, and start again.');
    this.#ends.warn(data);
    const params = { level: 'error', logger: 'ute mcp', data };
    this.#ends.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params }));
  }
}
