// GrantedRun: runs a call that was let in, with what it was given: a slot that may be lost, and what is left of its turn's time.
import { reasonRow } from '../../contract/call/reasons/reasons.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { Next } from '../../contract/plugin.ts';
import { within } from '../../lib/timers/within.ts';
import type { Admission } from '../../ports/admission-control.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CallBudget } from './budget-plan.ts';
import type { LimitPlan } from './limit-plan.ts';
import { leaseLost, turnTimeSpent } from './refusals.ts';

export type Granted = Admission & { readonly granted: true };

/** Gives back what was granted, whatever becomes of the call, and of its budgets what it has not used. */
export async function runGranted(
  call: ToolCall,
  next: Next,
  {
    decision,
    budgets,
    plan,
    clock,
  }: {
    readonly decision: Granted;
    readonly budgets: readonly CallBudget[];
    readonly plan: LimitPlan;
    readonly clock: Clock;
  },
): Promise<ToolResponse> {
  const { taken } = decision;
  if (taken === undefined) {
    try {
      return await inSlot(call, next, decision, plan);
    } finally {
      decision.release();
    }
  }
  const since = clock.now();
  let response: ToolResponse | undefined;
  try {
    const turnMs = taken[budgets.findIndex(({ unit }) => unit === 'ms')];
    response = await inTurn(call, turnMs, clock, (inTime) => inSlot(inTime, next, decision, plan));
    return response;
  } finally {
    decision.release(usedOf({ call, response, taken, budgets, tookMs: clock.now() - since }));
  }
}

/** What surely did not run is given back; time, as far as it was not used. */
function usedOf({
  call,
  response,
  taken,
  budgets,
  tookMs,
}: {
  readonly call: ToolCall;
  readonly response: ToolResponse | undefined;
  readonly taken: readonly number[];
  readonly budgets: readonly CallBudget[];
  readonly tookMs: number;
}): readonly number[] {
  const hasRun = call.progress.executorEntered && !provesNothingRan(response);
  const isUnused = ({ unit }: CallBudget) => unit === 'ms' || !hasRun;
  if (!budgets.some(isUnused)) return taken;
  return budgets.map(({ unit }, index) => {
    const amount = taken[index] ?? 0;
    if (unit === 'ms') return Math.min(amount, Math.ceil(tookMs));
    return hasRun ? amount : 0;
  });
}

function provesNothingRan(response: ToolResponse | undefined): boolean {
  if (response === undefined || response.ok || response.error.origin === 'tool') return false;
  return reasonRow(response.error.reason)?.ranNothing === true;
}

function inTurn(
  call: ToolCall,
  turnMs: number | undefined,
  clock: Clock,
  run: (call: ToolCall) => Promise<ToolResponse>,
): Promise<ToolResponse> {
  if (turnMs === undefined || clock.now() + turnMs >= call.deadline) return run(call);
  const limit = { ms: turnMs, signal: call.signal, late: () => turnTimeSpent(turnMs) };
  return within(clock, limit, (signal) => run({ ...call, signal, deadline: clock.now() + turnMs }));
}

/** Under `cancel`, the call's own signal also aborts when another call may have its slot. */
async function inSlot(
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
