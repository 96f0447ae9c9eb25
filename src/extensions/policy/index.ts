// policy: rules over arguments, context and caller decide what may run. The part of authorization that needs valid arguments.
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { ExtensionPlugin, Next, ToolExtension } from '../../contract/plugin.ts';
import type { JsonObject } from '../../contract/json.ts';
import { within } from '../../lib/timers/within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { policyOptionsSchema, type PolicyOptions, type PolicyRule } from './options.ts';
import {
  faultsOfPolicy,
  refusedTenants,
  ToolPolicy,
  type Decision,
  type ExplainedDecision,
} from './tool-policy.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export const policy: ExtensionPlugin<PolicyOptions, Needs> = {
  name: 'policy',
  summary: 'Allows, refuses, caps or sends to approval by rules over arguments, context and caller.',
  optionsSchema: policyOptionsSchema,
  shape: (spec, { rules, tool_rules: own }) =>
    [...rules, ...own].some(({ decision }) => decision === 'require_approval')
      ? { ...spec, mayNeedApproval: true }
      : spec,
  check: faultsOfPolicy,
  create: (needs) => createPolicy(needs),
};

function createPolicy({ clock, log, metrics }: Needs): ToolExtension<PolicyOptions> {
  const counter = metrics.counter(ACCESS_SERIES.ute_policy_decisions_total);
  const undecided = counter.with('', 'none');

  function note(call: ToolCall, decision: Decision): void {
    if (decision.kind === 'none') return undecided.add();
    const { name } = decision.rule;
    const kind = decision.kind === 'error' ? 'error' : decision.rule.decision;
    counter.with(name, kind).add();
    const { progress } = call;
    progress.notes = { ...progress.notes, policy_rule: name, policy_decision: kind };
  }

  function failed(call: ToolCall, tool: string, rule: PolicyRule, error: string): ToolFailure {
    const about = { ...callLogFields(call), tool, rule: rule.name, error };
    log.warn(about, 'a policy rule could not be evaluated: the call was refused');
    return notDecided(rule);
  }

  return {
    stage: 'tool',
    onFailure: 'deny',
    phases: ['admit', 'run'],
    explains: true,
    prepare(fn, options) {
      // Checked at load already; a tool that came another way does not get round the rules of gateway.yaml.
      if (fn.spec.extensions['policy']?.['rules'] !== undefined)
        throw new Error('extensions.policy.rules belongs into gateway.yaml');
      const rules = ToolPolicy.of(fn, options);
      if (rules === undefined) return undefined;
      return function holdToPolicy(call, next) {
        if (call.phase.kind === 'explain') {
          call.phase.tell('policy', explanationOf(rules.explain(call)));
          return next(call);
        }
        const decision = rules.decide(call);
        note(call, decision);
        if (decision.kind === 'none') return next(call);
        if (decision.kind === 'error') throw failed(call, fn.name, decision.rule, decision.error);
        return APPLY[decision.rule.decision](call, next, decision.rule, clock);
      };
    },
    shownTo(fn, options) {
      const isRefused = refusedTenants(fn, options);
      return isRefused && (({ principal }) => !isRefused(principal.tenantId));
    },
  };
}

function explanationOf({ decision, rules }: ExplainedDecision): JsonObject {
  const asked = rules.map(({ rule, outcome }) => ({ rule, outcome }));
  if (decision.kind === 'none') return { decision: 'none', rule: null, rules: asked };
  const { name, decision: said, message, timeout_ms: timeoutMs } = decision.rule;
  return {
    decision: decision.kind === 'error' ? 'error' : said,
    rule: name,
    ...(decision.kind === 'error' && { error: decision.error }),
    ...(decision.kind === 'rule' && message !== undefined && { message }),
    ...(decision.kind === 'rule' && timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    rules: asked,
  };
}

type Apply = (call: ToolCall, next: Next, rule: PolicyRule, clock: Clock) => Promise<ToolResponse>;

const APPLY: Readonly<Record<PolicyRule['decision'], Apply>> = {
  allow: (call, next) => next(call),
  deny: (_call, _next, rule) => {
    throw denied(rule);
  },
  require_approval: withApproval,
  cap: inTime,
};

/** Asked by the approval extension, or before, when the call was accepted. */
function withApproval(call: ToolCall, next: Next, rule: PolicyRule): Promise<ToolResponse> {
  const { phase, progress } = call;
  if (phase.kind !== 'resume') {
    // Nobody would ask for it.
    if (call.function?.spec.mayNeedApproval !== true) throw new Error('the tool has no step of approval');
    progress.needsApproval = true;
    return next(call);
  }
  if (phase.admitted.runs !== undefined) return next(call);
  const message = `The policy rule ${rule.name} asks for an approval that this call did not have when it was accepted.`;
  throw toolFailure('POLICY_DENIED', message, { details: { rule: rule.name } });
}

async function inTime(call: ToolCall, next: Next, rule: PolicyRule, clock: Clock): Promise<ToolResponse> {
  const { timeout_ms: timeoutMs = 0, name } = rule;
  // Nothing runs yet: the time of the run is counted from its own start.
  if (call.phase.kind === 'admit') return next(call);
  const lateAt = Math.min(call.deadline, call.receivedAt + timeoutMs);
  const late = () =>
    toolFailure('POLICY_TIMEOUT', `The policy rule ${name} gives this call ${timeoutMs} ms.`, {
      details: { rule: name, limit_ms: timeoutMs },
    });
  const limit = { ms: Math.max(0, lateAt - clock.now()), signal: call.signal, late };
  return within(clock, limit, (signal) => next({ ...call, signal, deadline: lateAt }));
}

function denied({ name, message }: PolicyRule): ToolFailure {
  return toolFailure('POLICY_DENIED', message ?? `The policy rule ${name} does not allow this call.`, {
    details: { rule: name },
  });
}

function notDecided({ name }: PolicyRule): ToolFailure {
  const message = `The policy rule ${name} could not be evaluated for this call, which is refused.`;
  return toolFailure('POLICY_FAILED', message, { details: { rule: name } });
}
