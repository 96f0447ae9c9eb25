// One run of a composite: stages in order, the steps of a stage at once, each a full call.
import type { Intent } from '../../contract/call/intent.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { Emit, ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolRefusal, ToolResult, ToolSuccess } from '../../contract/call/tool-response.ts';
import type { NestedCalls } from '../../ports/nested-calls.ts';
import { isTruthy } from '../../lib/jmespath/evaluate.ts';
import { ExpressionError, Work } from '../../lib/jmespath/work.ts';
import type { Program, Stage, Step } from './compile-steps.ts';
import type { Expression, Scope } from './expression.ts';
import { failedStep, misfit, StepBreak, StepReport, tooLarge } from './step-report.ts';

/** JSON text of all results that one call may hold. */
const MAX_HELD_LENGTH = 16 * 1024 * 1024;
const MAX_INTENTS = 32;

export class StepRun {
  readonly #program: Program;
  readonly #call: ToolCall;
  readonly #nested: NestedCalls;
  readonly #emit: Emit;
  readonly #work = new Work();
  readonly #report: StepReport;
  readonly #results: JsonObject = {};
  readonly #errors: JsonObject = {};
  readonly #intents: Intent[] = [];
  #heldLength = 0;
  #endedSteps = 0;
  /** Set by the first failure that stops the run: no further call is started. */
  #broken: StepBreak | undefined;

  constructor(program: Program, call: ToolCall, nested: NestedCalls, emit: Emit) {
    this.#program = program;
    this.#call = call;
    this.#nested = nested;
    this.#emit = emit;
    this.#report = new StepReport(call.snapshot);
  }

  /** Throws ToolFailure. */
  async run(): Promise<ToolResult> {
    const { stages, result } = this.#program;
    try {
      for (const stage of stages) await this.#runStage(stage);
      const data = result === undefined ? this.#results : this.#evaluate(result, this.#scope(), 'result');
      return { data, intents: this.#intents };
    } catch (error) {
      throw error instanceof StepBreak ? error.failureOf(this.#report) : error;
    }
  }

  /** Waits for all its steps, also when one has failed: what they did belongs into the report. */
  async #runStage({ steps }: Stage): Promise<void> {
    const scope = this.#scope();
    const results = await Promise.all(steps.map((step) => this.#runStep(step, scope)));
    // The call's own end says better why than what it did to a step.
    if (this.#call.signal.aborted) throw this.#call.signal.reason;
    if (this.#broken !== undefined) throw this.#broken;
    for (const [index, { id }] of steps.entries()) this.#results[id] = results[index] ?? null;
  }

  #scope(): Scope {
    return { input: this.#call.arguments, steps: { ...this.#results }, errors: { ...this.#errors } };
  }

  /** Never rejects with a StepBreak: it is kept, so that the steps beside this one end first. */
  async #runStep(step: Step, scope: Scope): Promise<JsonValue> {
    try {
      if (step.when !== undefined && !isTruthy(this.#evaluate(step.when, scope, `${step.id}.when`))) {
        this.#report.skipped(step);
        this.#emitStep(step, 'skipped');
        return null;
      }
      const { forEach } = step;
      const result = await (forEach === undefined
        ? this.#callOnce(step, scope)
        : this.#callForEach(step, forEach, scope));
      this.#emitStep(step, 'ended');
      return result;
    } catch (error) {
      this.#break(error);
      return null;
    }
  }

  #break(error: unknown): void {
    if (!(error instanceof StepBreak)) throw error;
    this.#broken ??= error;
  }

  /** Null, with the error noted, where the call failed and the run goes on. */
  async #callOnce(step: Step, scope: Scope): Promise<JsonValue> {
    const args = this.#guarded(`${step.id}.arguments`, () => step.arguments.fillIn(scope, this.#work));
    const response = await this.#nested.run(this.#call, step.tool, args as JsonObject);
    this.#report.ended(step, response);
    if (response.ok) return this.#keep(response);
    if (step.onError === 'stop') throw failedStep(step, response, args);
    this.#errors[step.id] ??= errorOf(response, scope);
    return null;
  }

  async #callForEach(step: Step, list: Expression, scope: Scope): Promise<JsonValue> {
    const items = this.#evaluate(list, scope, `${step.id}.for_each`);
    if (!Array.isArray(items)) throw misfit(`${step.id}.for_each gave no list`, 'FOR_EACH_NOT_A_LIST');
    if (items.length > step.maxItems) {
      const found = `gave ${items.length} entries, more than max_items ${step.maxItems}`;
      throw misfit(`${step.id}.for_each ${found}`, 'FOR_EACH_TOO_LONG');
    }
    const results: JsonValue[] = items.map(() => null);
    const entries = items.entries();
    // The workers share one iterator: each takes the next entry, until none is left or the run breaks off.
    const work = async (): Promise<void> => {
      for (const [index, item] of entries) {
        if (this.#broken !== undefined || this.#call.signal.aborted) return;
        results[index] = await this.#callOnce(step, { ...scope, item, index });
      }
    };
    await Promise.all(
      Array.from({ length: step.concurrency }, () => work().catch((error) => this.#break(error))),
    );
    return results;
  }

  #keep(response: ToolSuccess): JsonValue {
    this.#heldLength += response.dataJson.length;
    if (this.#heldLength > MAX_HELD_LENGTH) throw tooLarge(MAX_HELD_LENGTH);
    this.#intents.push(...response.intents.slice(0, MAX_INTENTS - this.#intents.length));
    return response.data;
  }

  #evaluate(expression: Expression, scope: Scope, place: string): JsonValue {
    return this.#guarded(place, () => expression.evaluate(scope, this.#work));
  }

  #guarded(place: string, compute: () => JsonValue): JsonValue {
    try {
      return compute();
    } catch (error) {
      throw error instanceof ExpressionError ? misfit(`${place}: ${error.message}`, error.reason) : error;
    }
  }

  #emitStep({ id }: Step, what: string): void {
    this.#endedSteps += 1;
    const fraction = this.#endedSteps / this.#program.steps.length;
    this.#emit({ kind: 'progress', fraction, message: `step ${id} ${what}` });
  }
}

function errorOf({ error }: ToolRefusal, { index }: Scope): JsonObject {
  const { type, reason, message } = error;
  return { type, reason, message, ...(index !== undefined && { index }) };
}
