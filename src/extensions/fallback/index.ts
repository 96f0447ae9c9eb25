// fallback: a safe answer where a tool fails without having done anything, or is late. Observers see what really happened.
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import { cachedResponse } from '../../contract/call/make-response.ts';
import type { ExtensionPlugin, Next, ToolExtension } from '../../contract/plugin.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolRefusal, ToolResponse } from '../../contract/call/tool-response.ts';
import { within } from '../../lib/timers/within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { fallbackOptionsSchema, faultsOfFallback, hasFallback, type FallbackOptions } from './options.ts';
import { compileAnswers } from './answers-by-language.ts';
import { CALLS_SERIES } from '../../ports/telemetry/series/calls.ts';

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export const fallback: ExtensionPlugin<FallbackOptions, Needs> = {
  name: 'fallback',
  summary:
    'Gives a safe answer where a tool fails without having done anything, or is late, and marks it as such.',
  optionsSchema: fallbackOptionsSchema,
  check: faultsOfFallback,
  create: (needs) => createFallback(needs),
};

function createFallback({ clock, log, metrics }: Needs): ToolExtension<FallbackOptions> {
  const counter = metrics.counter(CALLS_SERIES.ute_fallbacks_total);
  return {
    stage: 'tool',
    // A safe answer that cannot be made leaves the error as it is.
    onFailure: 'continue',
    prepare(fn, options) {
      if (!hasFallback(fn, options)) return undefined;
      const { after_ms: afterMs } = options;
      const answers = compileAnswers(fn, options);
      return async function fallBack(call, next) {
        // A dry run shows what would happen, failures too.
        if (call.context.dryRun === true) return next(call);
        const response = await (afterMs === undefined ? next(call) : inTime(call, next, afterMs, clock));
        if (response.ok || !isReplaceable(response, options)) return response;
        const { type, reason } = response.error;
        const filled = answers.of(call.context.language).fill(call);
        const about = { ...callLogFields(call), tool: fn.name, type, reason, err: response.cause };
        if (filled === undefined) {
          log.warn(about, 'the safe answer does not fit these arguments: the error was left to stand');
          return response;
        }
        counter.with(fn.name, type).add();
        log.warn(about, 'a safe answer was given in place of an error');
        return safe(call, response, filled.data, filled.dataJson);
      };
    },
  };
}

function isReplaceable({ error }: ToolRefusal, { on }: FallbackOptions): boolean {
  return !error.partialSideEffects && on.some((type) => type === error.type);
}

function safe(
  call: ToolCall,
  { error }: ToolRefusal,
  data: Parameters<typeof cachedResponse>[1],
  dataJson: string,
): ToolResponse {
  const { progress } = call;
  progress.fallback = true;
  // The answer that was found wanting may have come from the cache; this one did not.
  progress.cached = false;
  progress.notes = { ...progress.notes, fallback_for: error.type, fallback_reason: error.reason };
  return cachedResponse(call, data, dataJson);
}

/** Runs the inside with a deadline of its own, counted from when the call came in; late, it is cancelled and ends in TIMEOUT. */
async function inTime(call: ToolCall, next: Next, afterMs: number, clock: Clock): Promise<ToolResponse> {
  const lateAt = call.receivedAt + afterMs;
  const limit = { ms: Math.max(0, lateAt - clock.now()), signal: call.signal, late: () => tooLate(afterMs) };
  return within(clock, limit, (signal) =>
    next({ ...call, signal, deadline: Math.min(call.deadline, lateAt) }),
  );
}

function tooLate(afterMs: number): ToolFailure {
  return toolFailure('LATE', `The tool did not answer within ${afterMs} ms.`, {
    details: { limit_ms: afterMs },
  });
}
