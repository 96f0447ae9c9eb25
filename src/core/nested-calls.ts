// StepCalls: NestedCalls over the core. Each step is a call like any other, inside what its parent still may do.
import type { JsonObject } from '../contract/json.ts';
import {
  grantOf,
  type CallProgress,
  type ParentCall,
  type StepBudget,
  type ToolCall,
  type ToolRequest,
} from '../contract/call/tool-call.ts';
import type { ToolContext } from '../contract/call/tool-context.ts';
import { toolFailure } from '../contract/call/failure.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';
import { yieldToLoop } from '../lib/concurrency/in-slices.ts';
import { mayCall } from '../lib/callers/may-call.ts';
import type { Clock } from '../ports/clock.ts';
import type { NestedCalls } from '../ports/nested-calls.ts';
import type { ToolCaller } from '../ports/tool-caller.ts';

/** Steps inside steps. */
const MAX_DEPTH = 8;
/** Steps of any depth below one call that came through a door. */
const MAX_STEPS = 500;

/** How long the steps of one call go on before other calls get their turn. */
const SLICE_MS = 5;

export class StepCalls implements NestedCalls {
  readonly #clock: Clock;
  #caller: Pick<ToolCaller, 'execute'> | undefined;
  /** By a call's progress, which all copies of the call share. */
  readonly #budgets = new WeakMap<CallProgress, StepBudget>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Executors are made before the core that runs them: it comes later. */
  bind(caller: Pick<ToolCaller, 'execute'>): void {
    this.#caller = caller;
  }

  async run(parent: ToolCall, tool: string, args: JsonObject): Promise<ToolResponse> {
    if (this.#caller === undefined) throw new Error('no call runs before the core is there');
    const request = this.requestOf(parent, tool, args);
    const { budget } = request.parent;
    if (hasUsedItsSlice(budget)) await nextOwnSlice(budget);
    // It may have taken its turn for long.
    return this.#caller.execute({ ...request, timeoutMs: this.#leftOf(parent) });
  }

  /** The step as a request: what it may do is what its parent may. */
  requestOf(parent: ToolCall, tool: string, args: JsonObject): ToolRequest & { readonly parent: ParentCall } {
    const step = this.#stepOf(parent);
    const refusal = parent.signal.aborted ? cancelled() : (refusalOf(step) ?? reachRefusal(parent, tool));
    const { credential, door } = parent.request;
    return {
      tool,
      arguments: args,
      context: contextOf(parent.context),
      credential,
      door,
      timeoutMs: this.#leftOf(parent),
      signal: parent.signal,
      parent: step,
      ...(refusal !== undefined && { refusal }),
    };
  }

  #leftOf({ deadline }: ToolCall): number {
    return Math.max(0, deadline - this.#clock.now());
  }

  #stepOf(parent: ToolCall): ParentCall {
    const above = parent.request.parent;
    let budget = above?.budget ?? this.#budgets.get(parent.progress);
    if (budget === undefined) this.#budgets.set(parent.progress, (budget = { stepsLeft: MAX_STEPS }));
    budget.stepsLeft -= 1;
    parent.progress.calledOthers = true;
    const grant = grantOf(parent);
    const { id: callId, snapshot } = parent;
    const depth = (above?.depth ?? 0) + 1;
    return { callId, snapshot, depth, budget, ...(grant !== undefined && { grant }) };
  }
}

/** Tools that wait for nothing would run hundreds of steps in one turn of the event loop. */
function hasUsedItsSlice(budget: StepBudget): boolean {
  const now = performance.now();
  budget.sliceSince ??= now;
  return now - budget.sliceSince >= SLICE_MS;
}

/** Many steps may wait for the same turn: whoever finds it used up waits for another. */
async function nextOwnSlice(budget: StepBudget): Promise<void> {
  do {
    const before = budget.sliceSince;
    await yieldToLoop();
    if (budget.sliceSince === before) budget.sliceSince = performance.now();
  } while (hasUsedItsSlice(budget));
}

/** What was said about the parent alone does not hold for its steps: no approval, no key against repetition, no version. */
function contextOf(context: ToolContext): ToolContext {
  const {
    confirmationToken: _token,
    idempotencyKey: _key,
    cursor: _cursor,
    toolVersion: _version,
    ...rest
  } = context;
  return rest;
}

function refusalOf({ depth, budget }: ParentCall): ToolFailure | undefined {
  if (depth > MAX_DEPTH)
    return overdone('STEPS_TOO_DEEP', `Tools may call tools ${MAX_DEPTH} levels deep, and no deeper.`);
  if (budget.stepsLeft < 0)
    return overdone('TOO_MANY_STEPS', `One call may cause ${MAX_STEPS} calls of other tools, and no more.`);
  return undefined;
}

/** What somebody elsewhere wrote does not act with all that its caller may do. */
function reachRefusal({ function: fn, snapshot }: ToolCall, tool: string): ToolFailure | undefined {
  const target = snapshot.find(tool)?.function;
  if (fn === undefined || target === undefined) return undefined;
  if (mayCall(fn.spec, target.spec, [tool, target.spec.name])) return undefined;
  const message = `The tool "${fn.name}" comes from a document elsewhere, and may not call "${tool}".`;
  return toolFailure('STEP_NOT_ALLOWED', message);
}

function overdone(reason: 'STEPS_TOO_DEEP' | 'TOO_MANY_STEPS', message: string): ToolFailure {
  return toolFailure(reason, message, { retryable: false });
}

function cancelled(): ToolFailure {
  return new ToolFailure('CANCELLED', 'The call that this is a step of has ended.');
}
