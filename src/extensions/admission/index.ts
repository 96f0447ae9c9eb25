// admission: rate limits and the concurrency lease, one decision just before the tool runs, given back when it ends.
import { z } from 'zod';
import type { Extension, ExtensionPlugin } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { ToolCall } from '../../contract/tool-call.ts';
import type { ToolFunction } from '../../contract/tool-function.ts';
import type { LimitScope } from '../../contract/tool-spec.ts';
import type { Admission, AdmissionControl, LeaseRule, RateRule } from '../../ports/admission-control.ts';
import type { Counter, Histogram, Metrics } from '../../ports/metrics.ts';

const optionsSchema = z.strictObject({});
interface Needs {
  readonly admission: AdmissionControl;
  readonly metrics: Metrics;
}

export const admission: ExtensionPlugin<z.infer<typeof optionsSchema>, Needs> = {
  name: 'admission',
  summary: 'Rate limits and concurrency with a bounded fair queue, decided together in one step.',
  optionsSchema,
  create: (needs) => createAdmission(needs),
};

function createAdmission({ admission, metrics }: Needs): Extension<object> {
  const refused = metrics.counter({
    name: 'ute_rate_limited_total',
    help: 'Calls refused by a limit, by kind (rate or concurrency).',
    labels: ['kind'],
  });
  const refusals: Record<'rate' | 'concurrency', Counter> = {
    rate: refused.with('rate'),
    concurrency: refused.with('concurrency'),
  };
  const waited: Histogram = metrics
    .histogram({
      name: 'ute_queue_wait_seconds',
      help: 'Time that admitted calls waited for a free place.',
      buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    })
    .with();
  return {
    stage: 'tool',
    onFailure: 'deny',
    appliesTo: ({ spec }) => spec.rateLimits.length > 0 || spec.concurrency !== undefined,
    async around(call, next) {
      const decision = await admission.admit(requestFor(call, call.function as ToolFunction), call.signal);
      call.progress.rateLimits = decision.rates;
      if (!decision.granted) {
        refusals[decision.refusedBy].add();
        throw refusal(decision);
      }
      waited.observe(decision.waitedMs / 1000);
      try {
        return await next(call);
      } finally {
        decision.release();
      }
    },
  };
}

function requestFor(call: ToolCall, { spec }: ToolFunction) {
  const rates: RateRule[] = spec.rateLimits.map((limit, index) => ({
    key: `rate:${index}:${keyOf(call, spec.name, limit.per)}`,
    name: `${limit.per}-${limit.rate}-per-${limit.periodMs / 1000}s`,
    rate: limit.rate,
    periodMs: limit.periodMs,
    burst: limit.burst,
  }));
  const { concurrency } = spec;
  const leases: LeaseRule[] =
    concurrency === undefined
      ? []
      : [{ key: `lease:${keyOf(call, spec.name, concurrency.per)}`, ...concurrency }];
  return { callId: call.id, fairnessKey: call.context.tenantId ?? '', rates, leases };
}

/** Limits never mix tools or tenants: an agent or a user is counted inside its tenant. */
function keyOf(call: ToolCall, tool: string, scope: LimitScope): string {
  const { tenantId = '', agentId = '', userId = '' } = call.context;
  const whose = {
    tool: [],
    tenant: ['t', tenantId],
    agent: ['a', tenantId, agentId],
    user: ['u', tenantId, userId],
  };
  return JSON.stringify([tool, ...whose[scope]]);
}

function refusal(decision: Admission & { granted: false }): ToolFailure {
  const { refusedBy, retryAfterMs, rule } = decision;
  if (refusedBy === 'rate') {
    return new ToolFailure('RATE_LIMIT', `The rate limit ${rule} of this tool is used up.`, {
      reason: 'RATE_EXCEEDED',
      retryAfterMs,
      details: { limit: rule },
    });
  }
  return new ToolFailure('CONCURRENCY_LIMIT', 'Too many calls of this tool run or wait already.', {
    reason: 'QUEUE_FULL',
    retryAfterMs,
  });
}
