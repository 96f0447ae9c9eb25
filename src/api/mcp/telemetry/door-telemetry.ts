// DoorTelemetry: what the MCP door tells of its messages: counts, times, a span and a log line for each request.
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { Counter, Gauge, Histogram, Metrics } from '../../../ports/telemetry/metrics.ts';
import { MCP_DOOR_SERIES } from '../../../ports/telemetry/series/mcp-door.ts';
import type { DoorOutcome, Exchange } from '../protocol/exchange.ts';
import type { ReaderLost } from '../protocol/sse-answer.ts';
import { startRequestSpan } from './request-span.ts';

/** Others are counted together: a client may think of any. */
const METHODS = new Set([
  'initialize',
  'ping',
  'server/discover',
  'subscriptions/listen',
  'logging/setLevel',
  'tools/list',
  'tools/call',
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/update',
  'tasks/cancel',
  'notifications/initialized',
  'notifications/cancelled',
]);
const OTHER_METHOD = '_other';
/** Of what was refused before anybody looked for its method. */
const UNREAD = '_unread';

type Counted = DoorOutcome | 'refused';

export interface TelemetryDeps {
  readonly metrics: Metrics;
  readonly log: Log;
}

export class DoorTelemetry {
  readonly openStreams: Gauge;
  readonly sessions: Counter;
  readonly tasks: Counter;
  readonly #log: Log;
  readonly #counter: (method: string, outcome: Counted) => Counter;
  readonly #time: (method: string) => Histogram;
  readonly #lost: Readonly<Record<ReaderLost, Counter>>;

  constructor({ metrics, log }: TelemetryDeps) {
    this.#log = log;
    const counted = metrics.counter(MCP_DOOR_SERIES.ute_mcp_door_requests_total);
    const timed = metrics.histogram(MCP_DOOR_SERIES.ute_mcp_door_request_duration_seconds);
    this.#counter = remembered((method, outcome: Counted) => counted.with(method, outcome));
    this.#time = remembered((method) => timed.with(method));
    const lost = metrics.counter(MCP_DOOR_SERIES.ute_mcp_door_readers_sent_away_total);
    // There from the start: a dashboard shows none as none.
    this.#lost = { stuck: lost.with('stuck'), too_slow: lost.with('too_slow') };
    this.openStreams = metrics.gauge(MCP_DOOR_SERIES.ute_mcp_door_open_streams).with();
    this.sessions = metrics.counter(MCP_DOOR_SERIES.ute_mcp_door_sessions_total).with();
    this.tasks = metrics.counter(MCP_DOOR_SERIES.ute_mcp_door_tasks_total).with();
  }

  /** `serve` resolves when the request is answered, or nobody waits for the answer. */
  async around(message: JSONRPCRequest, exchange: Exchange, serve: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    const method = methodOf(message);
    const span = startRequestSpan(method, message, exchange.asked);
    exchange.trace = span?.trace;
    try {
      await serve();
    } finally {
      const { outcome, code } = exchange.ended;
      const seconds = (performance.now() - startedAt) / 1_000;
      this.#counter(method, outcome).add();
      this.#time(method).observe(seconds, span?.traceId);
      if (method === 'initialize' && outcome === 'ok') this.sessions.add();
      span?.end(outcome, code);
      const { era } = exchange.asked;
      this.#log.debug({ method, era, outcome, code, seconds }, 'a request of an MCP client was answered');
    }
  }

  /** Of what is no request, or is answered by a stream. */
  counted(message: { readonly method?: string }, outcome: Counted): void {
    this.#counter(methodOf(message), outcome).add();
  }

  refused(): void {
    this.#counter(UNREAD, 'refused').add();
  }

  /** Its connection was closed: its call, where it made one, is cancelled. */
  readonly readerLost = (why: ReaderLost): void => {
    this.#lost[why].add();
    this.#log.warn(
      { why },
      'an MCP client was sent away: it did not read what it was told in a stream of events',
    );
  };

  streamsFull(): void {
    this.#log.warn({}, 'an MCP client was sent away: too many streams are open, or the gateway is closing');
  }
}

function methodOf({ method = 'response' }: { readonly method?: string }): string {
  return METHODS.has(method) || method === 'response' ? method : OTHER_METHOD;
}

/** One handle for each label, which are few. */
function remembered<Args extends [string, ...string[]], Made>(make: (...args: Args) => Made) {
  const made = new Map<string, Made>();
  return (...args: Args): Made => {
    const key = args.join(' ');
    const known = made.get(key);
    if (known !== undefined) return known;
    const fresh = make(...args);
    made.set(key, fresh);
    return fresh;
  };
}
