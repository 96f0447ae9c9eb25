// What a call tells before its end, as notifications of the protocol: progress and partial results for clients that gave a token,
// log messages for those that asked for a level.
import type { CallEvent, Emit } from '../../../contract/call/tool-call.ts';
import type { JsonValue } from '../../../contract/json.ts';
import type { Exchange } from '../protocol/exchange.ts';

/** Of `_meta` of a progress notification: what the tool has of its result so far. */
export const PARTIAL_KEY = 'io.ute/partial';

/** RFC 5424, from the least to the most severe; tools know four of them. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const LEVEL_OF = { debug: 'debug', info: 'info', warn: 'warning', error: 'error' } as const;
/** What makes a value greater than the one before, where the tool says of no progress. */
const STEP = 1e-6;

export interface WantedEvents {
  readonly progressToken: JsonValue | undefined;
  readonly logLevel: JsonValue | undefined;
}

/** Of a request: where notifications go, and whether its client takes any. */
export type Listener = Pick<Exchange, 'notify' | 'asked'>;

export function isLogLevel(said: unknown): said is string {
  return typeof said === 'string' && LEVELS.includes(said);
}

/** Undefined: the client wants to hear of nothing. */
export function emitTo(
  exchange: Listener,
  { progressToken: token, logLevel }: WantedEvents,
): Emit | undefined {
  const isToken = typeof token === 'string' || typeof token === 'number';
  const least = isLogLevel(logLevel) ? LEVELS.indexOf(logLevel) : undefined;
  if (!exchange.asked.takesEvents || (!isToken && least === undefined)) return undefined;
  const progress = new Progress();
  return (event) => {
    if (event.kind === 'log') {
      const level = LEVEL_OF[event.level];
      if (least === undefined || LEVELS.indexOf(level) < least) return;
      const params = { level, data: event.message, logger: 'tool' };
      exchange.notify({ jsonrpc: '2.0', method: 'notifications/message', params });
    } else if (isToken) {
      const params = { progressToken: token, ...progress.after(event) };
      exchange.notify({ jsonrpc: '2.0', method: 'notifications/progress', params }, event.kind !== 'partial');
    }
  };
}

/** Grows with each notification, as the protocol asks for: tools say how far they are, or nothing of it. */
class Progress {
  #last = -STEP;

  after(event: Exclude<CallEvent, { kind: 'log' }>) {
    const said = event.kind === 'progress' ? event.fraction : undefined;
    this.#last = said !== undefined && said > this.#last ? said : this.#last + STEP;
    return {
      progress: this.#last,
      total: 1,
      ...(event.kind === 'partial' && { _meta: { [PARTIAL_KEY]: event.data } }),
      ...(event.kind === 'progress' && event.message !== undefined && { message: event.message }),
    };
  }
}
