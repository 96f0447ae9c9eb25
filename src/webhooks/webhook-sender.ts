// WebhookSender: sends the messages of an outbox: signed, tried again for hours, given up in the end and kept.
import { isReason } from '../contract/call/reasons/is-reason.ts';
import { toolFailure } from '../contract/call/failure.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { signedHeaders } from '../lib/secrets/webhook-signature.ts';
import { backoffMs } from '../lib/timers/backoff.ts';
import { every, type Repeated } from '../lib/timers/every.ts';
import { settledWithin } from '../lib/timers/settled-within.ts';
import type { TraceContext } from '../lib/trace/trace-context.ts';
import { within } from '../lib/timers/within.ts';
import type { Clock } from '../ports/clock.ts';
import type { HttpClient } from '../ports/egress/http-client.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { MetricDefinition, Metrics } from '../ports/telemetry/metrics.ts';
import type { DueMessage, Outbox } from '../ports/calls/webhook-store.ts';
import type { CallbackRules } from './callback-rules.ts';

export interface SenderDeps<Due extends DueMessage> {
  readonly outbox: Outbox<Due>;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random: () => number;
  /** JSON text. */
  readonly bodyOf: (due: Due) => string;
  /** The trace that it is part of, for its headers. */
  readonly traceOf?: (due: Due) => TraceContext | undefined;
  /** What log lines say of it, besides its id. */
  readonly about: (due: Due) => Readonly<Record<string, string>>;
  /** The series that counts its attempts by outcome. */
  readonly counted: MetricDefinition;
  readonly rules: CallbackRules;
}

const POLL_MS = 1_000;
const AT_ONCE = 16;
const MAX_ANSWER_BYTES = 64 * 1024;
const DELAYS = { lastMs: 4 * 3_600_000, growth: 3, least: 0.5 };
const GONE = 410;
const STOP_WITHIN_MS = 1_000;

export class WebhookSender<Due extends DueMessage> {
  readonly #deps: SenderDeps<Due>;
  readonly #count: (outcome: 'delivered' | 'failed' | 'given_up') => void;
  readonly #stop = new AbortController();
  #polls: Repeated | undefined;
  #sending: Promise<void> | undefined;
  #again = false;

  constructor(deps: SenderDeps<Due>) {
    this.#deps = deps;
    const counter = deps.metrics.counter(deps.counted);
    this.#count = (outcome) => counter.with(outcome).add();
  }

  start(): void {
    if (!this.#deps.rules.enabled) return;
    this.wake();
    const { clock, random, log } = this.#deps;
    const failed = (error: unknown) =>
      log.warn({ err: error }, 'webhooks could not be looked for: it is tried again');
    this.#polls = every(clock, { ms: POLL_MS, jitter: 0.1, random }, () => this.wake(), failed);
  }

  /** Something has happened, perhaps with a message about it. */
  wake(): void {
    if (!this.#deps.rules.enabled || this.#stop.signal.aborted) return;
    this.#again = true;
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
  }

  /** What is being sent is broken off, and sent again by whoever comes next. A statement that hangs is not waited for. */
  async stop(): Promise<void> {
    void this.#polls?.stop();
    this.#stop.abort(toolFailure('DRAINING', 'The gateway is shutting down.'));
    if (this.#sending !== undefined) await settledWithin(this.#deps.clock, STOP_WITHIN_MS, this.#sending);
  }

  async #sendAll(): Promise<void> {
    const { outbox, rules, log } = this.#deps;
    try {
      while (this.#again && !this.#stop.signal.aborted) {
        this.#again = false;
        const due = await outbox.claim(AT_ONCE, rules.timeoutMs * 2);
        if (due.length === AT_ONCE) this.#again = true;
        await Promise.all(due.map((each) => this.#deliver(each)));
      }
    } catch (error) {
      log.warn({ err: error }, 'webhooks could not be read from the database: it is tried again');
    }
  }

  async #deliver(due: Due): Promise<void> {
    const { outbox, about: aboutOf, log } = this.#deps;
    const about = { webhookId: due.id, ...aboutOf(due), attempt: due.attempt };
    const problem = await this.#send(due).catch(problemOf);
    if (this.#stop.signal.aborted && problem !== undefined) return;
    try {
      if (problem === undefined) {
        await outbox.delivered(due.id, due.attempt);
        this.#count('delivered');
        return log.debug(about, 'webhook delivered');
      }
      const givenUp = problem.final || due.attempt >= this.#deps.rules.maxAttempts;
      await outbox.failed(
        due.id,
        due.attempt,
        problem.text,
        givenUp ? 'give_up' : { afterMs: this.#delayMs(due) },
      );
      this.#count(givenUp ? 'given_up' : 'failed');
      log.warn(
        { ...about, problem: problem.text },
        givenUp
          ? 'a webhook was given up: send it again by hand once its receiver works'
          : 'a webhook was not delivered: it is tried again',
      );
    } catch (error) {
      // Its lease ends, and it is sent once more: whoever gets it knows it by its id.
      log.warn(
        { ...about, err: error },
        'the outcome of a webhook could not be written: it may be delivered again',
      );
    }
  }

  /** Grows threefold, between half of it and all of it: those that failed together do not come back together. */
  #delayMs({ attempt }: Due): number {
    const { random, rules } = this.#deps;
    return backoffMs({ ...DELAYS, firstMs: rules.baseDelayMs }, attempt - 1, random);
  }

  async #send(due: Due): Promise<Problem | undefined> {
    const { http, clock, rules } = this.#deps;
    const refused = rules.refusal(due.url);
    if (refused !== undefined) return { text: refused, final: true };
    const url = new URL(due.url);
    const body = this.#deps.bodyOf(due);
    const timestamp = Math.floor(clock.wall() / 1000);
    const late = new Error(`no answer within ${rules.timeoutMs} ms`);
    const limit = { ms: rules.timeoutMs, signal: this.#stop.signal, late };
    const { status } = await within(clock, limit, (signal) =>
      http.request({
        method: 'POST',
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'unified-tool-executor',
          ...this.#deps.traceOf?.(due),
          ...signedHeaders({ id: due.id, timestamp, body }, rules.keys),
        },
        body,
        egress: rules.egress,
        maxResponseBytes: MAX_ANSWER_BYTES,
        signal,
      }),
    );
    if (status >= 200 && status < 300) return undefined;
    return { text: `answered ${status}`, final: status === GONE };
  }
}

interface Problem {
  readonly text: string;
  /** Trying again would change nothing. */
  readonly final: boolean;
}

/** What the other side sent stays out of it. */
function problemOf(error: unknown): Problem {
  if (error instanceof ToolFailure) return { text: error.reason, final: isReason(error, 'EGRESS_DENIED') };
  return { text: error instanceof Error ? error.message.slice(0, 200) : 'failed', final: false };
}
