// Runs the executor: attempt by attempt within the deadline, retried only where a second run can do no harm.
import type { PreparedFunction } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Emit, ToolCall } from '../../contract/tool-call.ts';
import type { ToolFunction } from '../../contract/tool-function.ts';
import type { ToolResult } from '../../contract/tool-response.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Counter, Histogram } from '../../ports/metrics.ts';
import { deadlineOf } from '../deadline.ts';
import type { RetryBudget } from './retry-budget.ts';
import { mayRetry, retryDelayMs } from './retry-policy.ts';

export interface AttemptDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly budget: RetryBudget;
  readonly retries: Counter;
  readonly seconds: Histogram;
}

/** Rejects with the last attempt's failure, or with the signal's reason once the call's time is over. */
export async function runAttempts(
  call: ToolCall,
  fn: ToolFunction,
  prepared: PreparedFunction,
  deps: AttemptDeps,
): Promise<ToolResult> {
  const emit = call.request.emit ?? ignore;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await oneAttempt(call, prepared, emit, deps);
      if (fn.spec.retries !== undefined) deps.budget.succeeded();
      return result;
    } catch (error) {
      const delayMs = delayBeforeNext(call, fn, error, attempt, deps);
      if (delayMs === undefined) throw error;
      deps.retries.add();
      await pause(delayMs, call, deps.clock);
    }
  }
}

async function oneAttempt(
  call: ToolCall,
  prepared: PreparedFunction,
  emit: Emit,
  deps: AttemptDeps,
): Promise<ToolResult> {
  const { progress } = call;
  progress.attempts += 1;
  progress.executorEntered = true;
  const startedAt = performance.now();
  try {
    return await deadlineOf(call).race(prepared.execute(call, emit));
  } finally {
    const spentMs = performance.now() - startedAt;
    progress.executorMs += spentMs;
    deps.seconds.observe(spentMs / 1000);
  }
}

/** Milliseconds to wait before the next attempt; undefined: there is none. */
function delayBeforeNext(
  call: ToolCall,
  fn: ToolFunction,
  error: unknown,
  attempt: number,
  { clock, random, budget }: AttemptDeps,
): number | undefined {
  const policy = fn.spec.retries;
  if (policy === undefined || !(error instanceof ToolFailure) || call.signal.aborted) return undefined;
  const delayMs = retryDelayMs(policy, attempt, random, error.retryAfterMs);
  const remainingMs = call.deadline - clock.now();
  if (!mayRetry({ function: fn, failure: error, attempt, policy, remainingMs, delayMs })) return undefined;
  return budget.failed() ? delayMs : undefined;
}

function pause(ms: number, call: ToolCall, clock: Clock): Promise<void> {
  let disarm: () => void = ignore;
  const waited = new Promise<void>((resolve) => (disarm = clock.after(ms, resolve)));
  return deadlineOf(call)
    .race(waited)
    .finally(() => disarm());
}

function ignore(): void {}
