// admission: rate limits, budgets and the concurrency lease, one decision just before the tool runs, given back when it ends.
import { z } from 'zod';
import type { ExtensionPlugin, ToolExtension } from '../../contract/plugin.ts';
import type { CallRules } from '../../contract/rules/call-rules.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { AdmissionControl } from '../../ports/admission-control.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { admissionMetrics } from './admission-metrics.ts';
import { budgetPlan, type CallBudget } from './budget-plan.ts';
import { runGranted, type Granted } from './granted-run.ts';
import { planOf } from './limit-plan.ts';
import { refusalOf } from './refusals.ts';

const optionsSchema = z.strictObject({});
interface Needs {
  readonly admission: AdmissionControl;
  readonly callRules: CallRules;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

export const admission: ExtensionPlugin<z.infer<typeof optionsSchema>, Needs> = {
  name: 'admission',
  summary:
    'Rate limits, budgets and concurrency with a bounded fair queue, decided together in one step; over all replicas where there is Redis.',
  optionsSchema,
  create: (needs) => createAdmission(needs),
};

const NO_BUDGETS: readonly never[] = [];
const NOTHING = {};

const HOUR_MS = 3_600_000;

function createAdmission({ admission, callRules, clock, metrics }: Needs): ToolExtension<object> {
  const series = admissionMetrics(metrics);
  return {
    stage: 'tool',
    onFailure: 'deny',
    prepare(fn) {
      const plan = planOf(fn);
      const budgetsFor = budgetPlan(fn, callRules, clock);
      const { newBudgetsPerHour: limit } = callRules;
      const newBudgetsOf = ({ context: { tenantId = '' } }: ToolCall, budgets: readonly CallBudget[]) =>
        limit === undefined || budgets.length === 0
          ? NOTHING
          : { newBudgets: { key: tenantId, limit, periodMs: HOUR_MS } };
      if (!plan.limits && budgetsFor === undefined) return undefined;
      const inUse = plan.leases ? series.inUse.with(fn.spec.name) : undefined;
      if (plan.slots !== undefined) series.limit.with(fn.spec.name).set(plan.slots);
      return async function admit(call, next) {
        const budgets = budgetsFor?.(call) ?? NO_BUDGETS;
        if (!plan.limits && budgets.length === 0) return next(call);
        call.progress.waiting = true;
        const decision = await admission.admit(
          { ...plan.requestFor(call), budgets, ...newBudgetsOf(call, budgets) },
          call.signal,
        );
        call.progress.waiting = false;
        call.progress.rateLimits = decision.rates;
        if (!decision.granted) {
          if (decision.refusedBy === 'budget') series.spent.with(decision.rule).add();
          else series.refused[decision.refusedBy].add();
          throw refusalOf(decision, budgets);
        }
        note(call, decision);
        for (const _rule of decision.shadowRefusals ?? []) series.shadowRefused.add();
        series.waited.observe(decision.waitedMs / 1000);
        inUse?.add(1);
        try {
          return await runGranted(call, next, { decision, budgets, plan, clock });
        } finally {
          inUse?.add(-1);
        }
      };
    },
  };
}

function note(call: ToolCall, { degraded, fencingToken }: Granted): void {
  const { progress } = call;
  if (degraded !== undefined) progress.degraded.push(...degraded);
  if (fencingToken !== undefined) progress.fencingToken = fencingToken;
}
