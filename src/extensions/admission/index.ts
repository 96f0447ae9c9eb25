// admission: rate limits and the concurrency lease, one decision just before the tool runs, given back when it ends.
import { z } from 'zod';
import type { ExtensionPlugin, Next, ToolExtension } from '../../contract/plugin.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { Admission, AdmissionControl } from '../../ports/admission-control.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { admissionMetrics } from './admission-metrics.ts';
import { planOf, type LimitPlan } from './limit-plan.ts';

const optionsSchema = z.strictObject({});
interface Needs {
  readonly admission: AdmissionControl;
  readonly metrics: Metrics;
}

export const admission: ExtensionPlugin<z.infer<typeof optionsSchema>, Needs> = {
  name: 'admission',
  summary:
    'Rate limits and concurrency with a bounded fair queue, decided together in one step; over all replicas where there is Redis.',
  optionsSchema,
  create: (needs) => createAdmission(needs),
};

function createAdmission({ admission, metrics }: Needs): ToolExtension<object> {
  const series = admissionMetrics(metrics);
  return {
    stage: 'tool',
    onFailure: 'deny',
    prepare(fn) {
      const plan = planOf(fn);
      if (!plan.limits) return undefined;
      const inUse = plan.leases ? series.inUse.with(fn.spec.name) : undefined;
      return async function admit(call, next) {
        const decision = await admission.admit(plan.requestFor(call), call.signal);
        call.progress.rateLimits = decision.rates;
        if (!decision.granted) {
          series.refused[decision.refusedBy].add();
          throw refusal(decision);
        }
        note(call, decision);
        for (const _rule of decision.shadowRefusals ?? []) series.shadowRefused.add();
        series.waited.observe(decision.waitedMs / 1000);
        inUse?.add(1);
        try {
          return await run(call, next, decision, plan);
        } finally {
          inUse?.add(-1);
          decision.release();
        }
      };
    },
  };
}

type Granted = Admission & { readonly granted: true };

function note(call: ToolCall, { degraded, fencingToken }: Granted): void {
  const { progress } = call;
  if (degraded !== undefined) progress.degraded.push(...degraded);
  if (fencingToken === undefined) return;
  progress.fencingToken = fencingToken;
  progress.notes = { ...progress.notes, fencing_token: fencingToken };
}

/** Under `cancel`, the call's own signal also aborts when another call may have its slot. */
async function run(
  call: ToolCall,
  next: Next,
  decision: Granted,
  { cancelsWhenLost }: LimitPlan,
): Promise<ToolResponse> {
  if (decision.whenLost === undefined || !cancelsWhenLost) return next(call);
  const own = new AbortController();
  const follow = () => own.abort(call.signal.reason);
  if (call.signal.aborted) follow();
  call.signal.addEventListener('abort', follow, { once: true });
  decision.whenLost(() => own.abort(leaseLost()));
  try {
    return await next({ ...call, signal: own.signal });
  } finally {
    call.signal.removeEventListener('abort', follow);
  }
}

function leaseLost(): ToolFailure {
  return toolFailure('LEASE_LOST', 'The call lost its slot under a concurrency limit while it ran.');
}

function refusal(decision: Admission & { granted: false }): ToolFailure {
  const { refusedBy, retryAfterMs, rule } = decision;
  if (refusedBy === 'rate') {
    return toolFailure('RATE_EXCEEDED', `The rate limit ${rule} of this tool is used up.`, {
      retryAfterMs,
      details: { limit: rule },
    });
  }
  return new ToolFailure('CONCURRENCY_LIMIT', 'Too many calls of this tool run or wait already.', {
    reason: 'QUEUE_FULL',
    retryAfterMs,
  });
}
