// SessionOrder: a call as a step of its session: held to the rules before it runs, and kept for what comes after.
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { Next } from '../../contract/plugin.ts';
import type { SessionSteps, SteppingSession } from '../../ports/sessions/session-steps.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counter, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';
import type { ChainingRule } from './options.ts';
import { calledStep, succeededStep, type StepsOfTool } from './steps-of-tool.ts';

export interface OrderNeeds {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly sessionSteps: SessionSteps;
}

const COMPONENT = 'chaining';
const RETRY_AFTER_MS = 1_000;

export class SessionOrder {
  readonly #needs: OrderNeeds;
  readonly #refusals: Labelled<Counter>;

  constructor(needs: OrderNeeds) {
    this.#needs = needs;
    this.#refusals = needs.metrics.counter(ACCESS_SERIES.ute_chaining_refusals_total);
  }

  /** Rejects with ToolFailure PERMISSION_DENIED, UNAVAILABLE. */
  async walk(
    call: ToolCall,
    next: Next,
    session: SteppingSession,
    steps: StepsOfTool,
  ): Promise<ToolResponse> {
    if (steps.asked.length > 0) await this.#check(call, session, steps);
    // Nothing runs for one that is admitted or tried: it is no step.
    const runs = call.phase.kind !== 'admit' && call.context.dryRun !== true;
    if (runs && steps.called.length > 0) await this.#called(session, steps);
    // Not here: what is outside, such as output_schema and the time of a mode, may still refuse the answer.
    if (runs && steps.succeeded.length > 0)
      call.progress.whenSucceeded = () => this.#succeeded(call, session, steps);
    return next(call);
  }

  async #check(call: ToolCall, session: SteppingSession, { rules, asked }: StepsOfTool): Promise<void> {
    const { sessionSteps } = this.#needs;
    const taken = await sessionSteps.taken(session, asked).catch((error: unknown) => {
      throw notKnown(error);
    });
    for (const rule of rules) {
      const refusal = refusalOf(rule, taken);
      if (refusal === undefined) continue;
      this.#refusals.with(rule.name).add();
      call.progress.notes = { ...call.progress.notes, chaining_rule: rule.name };
      throw refusal;
    }
  }

  /** Before it runs: what it brings into the session must not be there without being known. */
  async #called(session: SteppingSession, { called }: StepsOfTool): Promise<void> {
    await this.#needs.sessionSteps.mark(session, called).catch((error: unknown) => {
      throw notKnown(error);
    });
  }

  /** The tool has run: where this cannot be kept, what comes after is refused, and the answer stands. */
  async #succeeded(call: ToolCall, session: SteppingSession, { succeeded }: StepsOfTool): Promise<void> {
    const { log, sessionSteps } = this.#needs;
    try {
      await sessionSteps.mark(session, succeeded);
    } catch (error) {
      const { degraded } = call.progress;
      if (!degraded.includes(COMPONENT)) degraded.push(COMPONENT);
      log.warn({ ...callLogFields(call), err: error }, 'a step of a session could not be kept');
    }
  }
}

function refusalOf(
  { name, after = [], not_after: notAfter = [], within_ms: withinMs, message }: ChainingRule,
  taken: ReadonlyMap<string, number>,
): ToolFailure | undefined {
  const missing = after.filter((pattern) => {
    const ago = taken.get(succeededStep(pattern));
    return ago === undefined || (withinMs !== undefined && ago > withinMs);
  });
  if (missing.length > 0) {
    const usual = `The rule ${name} has this tool called only after ${missing.join(' and ')} in the same session.`;
    return toolFailure('STEP_MISSING', message ?? usual, { details: { rule: name, missing } });
  }
  const before = notAfter.filter((pattern) => taken.has(calledStep(pattern)));
  if (before.length === 0) return undefined;
  const usual = `The rule ${name} has this tool not called after ${before.join(' or ')} in the same session.`;
  return toolFailure('STEP_REFUSED', message ?? usual, { details: { rule: name, after: before } });
}

function notKnown(cause: unknown): ToolFailure {
  const message =
    'What this session has called before cannot be looked up now: a rule holds the tool to an order of calls.';
  return toolFailure('STEPS_UNKNOWN', message, { retryAfterMs: RETRY_AFTER_MS, cause });
}
