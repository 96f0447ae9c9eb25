// modes: which tools a mode allows, and how long a call may take in it: told of where it is soft, ended where it is hard.
import { z } from 'zod';
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import type { CallRules } from '../../contract/rules/call-rules.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { ExtensionPlugin, Next, ToolExtension } from '../../contract/plugin.ts';
import type { InteractionMode } from '../../contract/tool/tool-spec.ts';
import { within } from '../../lib/timers/within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { limitsOf, type ModeLimits } from './mode-limits.ts';
import { LIMITS_SERIES } from '../../ports/telemetry/series/limits.ts';

const optionsSchema = z.strictObject({});
interface Needs {
  readonly callRules: CallRules;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export const modes: ExtensionPlugin<z.infer<typeof optionsSchema>, Needs> = {
  name: 'modes',
  summary:
    'Keeps calls to what `modes` of gateway.yaml says of their mode: which tools, and how long each call.',
  optionsSchema,
  create: (needs) => createModes(needs),
};

function createModes({ callRules, clock, log, metrics }: Needs): ToolExtension<object> {
  const refused = metrics.counter(LIMITS_SERIES.ute_mode_refusals_total);
  const overSoft = metrics.counter(LIMITS_SERIES.ute_soft_limit_exceeded_total);

  async function inTime(call: ToolCall, next: Next, limits: ModeLimits, tool: string): Promise<ToolResponse> {
    const { mode, softMs = Number.POSITIVE_INFINITY } = limits;
    const response = await ended(call, next, limits, clock);
    const tookMs = clock.now() - call.receivedAt;
    if (tookMs <= softMs) return response;
    overSoft.with(mode, tool).add();
    log.warn(
      { ...callLogFields(call), tool, mode, softMs, tookMs },
      'a call took longer than its mode likes it to',
    );
    return { ...response, meta: { ...response.meta, softLimitMs: softMs } };
  }

  return {
    stage: 'tool',
    onFailure: 'deny',
    phases: ['admit', 'run'],
    prepare(fn) {
      const byMode = new Map<InteractionMode, ModeLimits>();
      for (const rule of callRules.modes.values()) {
        const limits = limitsOf(fn, rule);
        if (limits !== undefined) byMode.set(rule.mode, limits);
      }
      if (byMode.size === 0) return undefined;
      return function keepToMode(call, next) {
        const { mode } = call.context;
        const limits = mode === undefined ? undefined : byMode.get(mode);
        if (limits === undefined) return next(call);
        if (limits.refusal !== undefined) {
          refused.with(limits.mode).add();
          const message = `This tool may not be called in ${limits.mode} mode: ${limits.refusal}.`;
          throw toolFailure('MODE_RULE', message, { details: { mode: limits.mode } });
        }
        return isWaitedFor(call) ? inTime(call, next, limits, fn.name) : next(call);
      };
    },
  };
}

/** Nobody in the conversation waits for what runs later, and a step is part of the time of its call. */
function isWaitedFor({ phase, request }: ToolCall): boolean {
  return phase.kind === 'run' && request.parent === undefined;
}

async function ended(
  call: ToolCall,
  next: Next,
  { mode, hardMs }: ModeLimits,
  clock: Clock,
): Promise<ToolResponse> {
  if (hardMs === undefined) return next(call);
  const lateAt = Math.min(call.deadline, call.receivedAt + hardMs);
  const late = () =>
    toolFailure('MODE_TIMEOUT', `In ${mode} mode a call has ${hardMs} ms.`, {
      details: { mode, limit_ms: hardMs },
    });
  const limit = { ms: Math.max(0, lateAt - clock.now()), signal: call.signal, late };
  return within(clock, limit, (signal) => next({ ...call, signal, deadline: lateAt }));
}
