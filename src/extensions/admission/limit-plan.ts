// LimitPlan: the limits of one function, made ready at load; a call only adds whose call it is.
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { isUnsafe, type LimitScope } from '../../contract/tool/tool-spec.ts';
import type { AdmissionRequest, LeaseRule, RateRule } from '../../ports/admission-control.ts';

export interface LimitPlan {
  /** False: nothing is limited. */
  readonly limits: boolean;
  readonly leases: boolean;
  /** Of the narrowest concurrency limit; undefined: there is none. */
  readonly slots: number | undefined;
  /** A lost slot ends the call. */
  readonly cancelsWhenLost: boolean;
  requestFor(call: ToolCall): AdmissionRequest;
}

interface Counted<Rule> {
  readonly keyFor: (call: ToolCall) => string;
  readonly rule: Omit<Rule, 'key'>;
}

export function planOf(fn: ToolFunction): LimitPlan {
  const { spec, connectionLimit } = fn;
  const rates = spec.rateLimits.map((limit, index): Counted<RateRule> => {
    const { per, rate, periodMs, burst, onStoreFailure, mode } = limit;
    const name = `${per}-${rate}-per-${periodMs / 1000}s`;
    const shadow = mode === 'shadow';
    return {
      keyFor: keyBy(`rate:${index}`, spec.name, per),
      rule: { name, rate, periodMs, burst, onStoreFailure, ...(shadow && { shadow }) },
    };
  });
  const leases = (spec.concurrency ?? []).map(({ per, limit, maxQueue, maxWaitMs, onStoreFailure }) => ({
    keyFor: keyBy('lease', spec.name, per),
    rule: { limit, maxQueue, maxWaitMs, onStoreFailure },
  }));
  const all: readonly Counted<LeaseRule>[] =
    connectionLimit === undefined ? leases : [...leases, overConnection(fn, connectionLimit)];
  const { readOnly } = spec.metadata;
  return {
    limits: rates.length + all.length > 0,
    leases: all.length > 0,
    slots: all.length === 0 ? undefined : Math.min(...all.map(({ rule }) => rule.limit)),
    cancelsWhenLost:
      (spec.concurrency ?? []).some(({ onLeaseLost }) => onLeaseLost === 'cancel') ||
      (connectionLimit !== undefined && !readOnly),
    requestFor: (call) => ({
      callId: call.id,
      fairnessKey: call.context.tenantId ?? '',
      rates: rates.map(({ keyFor, rule }) => ({ ...rule, key: keyFor(call) })),
      leases: all.map(({ keyFor, rule }) => ({ ...rule, key: keyFor(call) })),
    }),
  };
}

function overConnection(
  { spec }: ToolFunction,
  { connection, limit, maxQueue, maxWaitMs = spec.timeoutMs }: NonNullable<ToolFunction['connectionLimit']>,
): Counted<LeaseRule> {
  const key = `connection:${connection}`;
  const onStoreFailure = isUnsafe(spec.metadata) ? 'closed' : 'local';
  return { keyFor: () => key, rule: { limit, maxQueue, maxWaitMs, onStoreFailure } };
}

/** Limits never mix tools or tenants: an agent or a user is counted inside its tenant. */
function keyBy(prefix: string, tool: string, scope: LimitScope): (call: ToolCall) => string {
  const keyOf = (...whose: string[]) => `${prefix}:${JSON.stringify([tool, ...whose])}`;
  const everybody = keyOf();
  if (scope === 'tool') return () => everybody;
  return ({ context }) => {
    const { tenantId = '', agentId = '', userId = '' } = context;
    if (scope === 'tenant') return keyOf('t', tenantId);
    return scope === 'agent' ? keyOf('a', tenantId, agentId) : keyOf('u', tenantId, userId);
  };
}
