// Runs the executor: attempt by attempt within the deadline, retried only where a second run can do no harm.
import type { PreparedFunction } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Emit, ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { pause } from '../../lib/timers/pause.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Counter, Histogram } from '../../ports/telemetry/metrics.ts';
import type { AttemptSpans } from '../../ports/telemetry/attempt-spans.ts';
import { raceCall } from '../deadline.ts';
import { REFUSED, type CircuitBreaker } from './circuit-breaker.ts';
import { judgeAttempt } from './judge-attempt.ts';
import type { RetryBudget } from './retry-budget.ts';
import { isTransient, mayRetry, provesNotStarted, retryDelayMs } from './retry-policy.ts';

export interface AttemptDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly budget: RetryBudget;
  /** Of the upstream that the function calls; undefined for those that call none. */
  readonly circuit?: CircuitBreaker;
  readonly retries: Counter;
  /** Counts the retries that the budget did not allow. */
  readonly exhausted: Counter;
  readonly seconds: Histogram;
  readonly spans?: AttemptSpans;
}

/**
 * Rejects with the last attempt's failure, or with the signal's reason once the call's time is over. An open circuit
 * refuses at once: nothing waits for it, and a retry that it stops leaves the failure before it as it is.
 */
export async function runAttempts(
  call: ToolCall,
  fn: ToolFunction,
  prepared: PreparedFunction,
  deps: AttemptDeps,
): Promise<ToolResult> {
  const { circuit } = deps;
  const emit = call.request.emit ?? ignore;
  let failure: unknown;
  for (let attempt = 1; ; attempt += 1) {
    // Waiting, in an extension or before this attempt, may have taken all the time there was.
    if (call.signal.aborted) throw call.signal.reason;
    const pass = circuit?.enter();
    if (circuit !== undefined && pass === REFUSED) throw failure ?? circuit.refusal();
    try {
      const result = await oneAttempt(call, fn, prepared, emit, deps, pass);
      if (fn.spec.retries !== undefined) deps.budget.succeeded();
      return result;
    } catch (error) {
      failure = error;
      const delayMs = delayBeforeNext(call, fn, error, attempt, deps);
      // Open, and so for longer than a delay is worth: what is certain to be refused is not waited for.
      if (delayMs === undefined || circuit?.state === 'open') throw error;
      deps.retries.add();
      if (!(error instanceof ToolFailure && provesNotStarted(error))) call.progress.mayHaveRun = true;
      await pause(deps.clock, delayMs, call.signal);
    }
  }
}

async function oneAttempt(
  call: ToolCall,
  { spec }: ToolFunction,
  prepared: PreparedFunction,
  emit: Emit,
  { circuit, clock, seconds, spans }: AttemptDeps,
  pass = REFUSED,
): Promise<ToolResult> {
  const { progress } = call;
  progress.attempts += 1;
  progress.executorEntered = true;
  progress.enteredWith = call.arguments;
  const beganAt = circuit === undefined ? 0 : clock.now();
  const startedAt = performance.now();
  try {
    const execute = (inside: ToolCall) => prepared.execute(inside, emit);
    const result = await raceCall(call, spans === undefined ? execute(call) : spans.around(call, execute));
    circuit?.settle(pass, 'answered');
    return result;
  } catch (error) {
    if (circuit !== undefined) {
      const endedAt = clock.now();
      const givenMs = Math.min(endedAt, call.deadline) - beganAt;
      const lateMs = Math.max(0, endedAt - call.deadline);
      const attempt = {
        error,
        prepared,
        givenMs,
        lateMs,
        timeoutMs: spec.timeoutMs,
        stalled: progress.stalled?.(),
      };
      circuit.settle(pass, judgeAttempt(attempt));
    }
    throw error;
  } finally {
    const spentMs = performance.now() - startedAt;
    progress.executorMs += spentMs;
    seconds.observe(spentMs / 1000);
  }
}

/** Milliseconds to wait before the next attempt; undefined: there is none. */
function delayBeforeNext(
  call: ToolCall,
  fn: ToolFunction,
  error: unknown,
  attempt: number,
  { clock, random, budget, exhausted }: AttemptDeps,
): number | undefined {
  const policy = fn.spec.retries;
  if (policy === undefined || !(error instanceof ToolFailure) || call.signal.aborted) return undefined;
  const delayMs = retryDelayMs(policy, attempt, random, error.retryAfterMs);
  const remainingMs = call.deadline - clock.now();
  // As the gRFC counts: every transient failure takes a token, whether a retry follows or not.
  const withinBudget = !isTransient(error) || budget.failed();
  if (!mayRetry({ function: fn, failure: error, attempt, policy, remainingMs, delayMs })) return undefined;
  if (!withinBudget) exhausted.add();
  return withinBudget ? delayMs : undefined;
}

function ignore(): void {}
