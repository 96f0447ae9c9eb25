// ReloadReporter: how loads went: the status that operators read, the series, and the log, which says each thing once.
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge, Metrics } from '../../ports/telemetry/metrics.ts';
import type { ReloadStatus } from '../../ports/registry/registry-control.ts';
import type { ProviderAdvice } from './provider-advice.ts';
import { reloadMetrics, type ReloadMetrics } from './reload-metrics.ts';

/** Where there are problems, nothing was changed. */
export interface Outcome {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly leftOut: readonly Problem[];
  readonly advice: ProviderAdvice;
}

export interface ReporterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** 1 while something stands in for a source that is away. */
  readonly degraded: Gauge;
}

/** Of one refused load; the status has them all. */
const MOST_LINES = 100;
const NOT_TAKEN = 'the new tools were refused; the last good set stays in force';
const NOT_TAKEN_AT_START = 'the tools were refused; without any, the gateway does not start';
/** Of what providers refuse: the status has more of them. */
const MOST_ADVICE = 20;

export class ReloadReporter {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #metrics: ReloadMetrics;
  readonly #degraded: Gauge;
  #told = '';
  #toldLeftOut = '[]';
  #advised = JSON.stringify({ shown: [], more: 0 });
  status: ReloadStatus = {
    ok: false,
    registryVersion: '',
    tools: 0,
    lastAttemptAt: '',
    lastSuccessAt: '',
    durationMs: 0,
    problems: [],
    warnings: [],
    leftOut: [],
    advice: [],
    moreAdvice: 0,
  };

  constructor({ clock, log, metrics, degraded }: ReporterDeps) {
    this.#degraded = degraded;
    this.#clock = clock;
    this.#log = log;
    this.#metrics = reloadMetrics(metrics);
  }

  record(
    { problems, warnings, leftOut, advice }: Outcome,
    { version, specs }: ToolSet,
    tookMs: number,
  ): void {
    const now = new Date(this.#clock.wall()).toISOString();
    const ok = problems.length === 0;
    const isFirst = this.status.lastSuccessAt === '';
    const durationMs = Math.round(tookMs);
    this.status = {
      ok,
      registryVersion: version,
      tools: specs.length,
      lastAttemptAt: now,
      lastSuccessAt: ok ? now : this.status.lastSuccessAt,
      durationMs,
      problems,
      warnings,
      // A load that is refused leaves the set in force, and what is known of it.
      ...(ok
        ? { leftOut, advice: advice.shown, moreAdvice: advice.more }
        : {
            leftOut: this.status.leftOut,
            advice: this.status.advice,
            moreAdvice: this.status.moreAdvice,
          }),
    };
    this.#metrics.record(ok, this.#clock.wall(), specs.length);
    this.#degraded.set(warnings.length > 0 ? 1 : 0);
    if (ok) this.#log.info({ registryVersion: version, tools: specs.length, durationMs }, 'tools loaded');
    this.#tell(problems, isFirst ? NOT_TAKEN_AT_START : NOT_TAKEN);
    if (!ok) return;
    this.#tellLeftOut(leftOut);
    this.#advise(advice);
  }

  #tellLeftOut(leftOut: readonly Problem[]): void {
    const told = JSON.stringify(leftOut);
    if (told === this.#toldLeftOut) return;
    this.#toldLeftOut = told;
    for (const problem of leftOut.slice(0, MOST_LINES))
      this.#log.error({ ...problem }, 'a dropped tool is wrong and was left out; all others are in force');
  }

  #advise(advice: ProviderAdvice): void {
    const told = JSON.stringify(advice);
    if (told === this.#advised) return;
    this.#advised = told;
    for (const each of advice.shown.slice(0, MOST_ADVICE))
      this.#log.warn({ ...each }, 'a model provider refuses part of a tool and is shown it otherwise');
    const more = advice.shown.length - MOST_ADVICE + advice.more;
    if (more > 0)
      this.#log.warn({ more }, 'model providers refuse more parts of tools: ute validate shows them');
  }

  /** A changed handler that is broken is tried again and again until it is mended. */
  #tell(problems: readonly Problem[], message: string): void {
    const told = JSON.stringify(problems);
    if (told === this.#told) return;
    this.#told = told;
    for (const problem of problems.slice(0, MOST_LINES)) this.#log.error({ ...problem }, message);
    const more = problems.length - MOST_LINES;
    if (more > 0) this.#log.error({ more }, 'the new tools have more problems than are shown here');
  }
}
