// StepReport: which steps of a call ran and how each ended, for whoever has to clean up after one that broke off.
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolRefusal, ToolResponse } from '../../contract/call/tool-response.ts';
import type { Step } from './compile-steps.ts';

/** Details are for reading: what is longer is left out. */
const MAX_DETAILS_LENGTH = 16_384;
const MAX_MESSAGE_LENGTH = 500;

interface Entry {
  readonly id: string;
  readonly tool: string;
  /** `ok`, `skipped`, or the type of the first error. */
  outcome: string;
  /** Of the call that failed first, else of the last one. */
  callId: string;
  calls: number;
  failed: number;
}

export class StepReport {
  readonly #snapshot: ToolSet;
  readonly #entries = new Map<string, Entry>();
  #hasEffects = false;

  constructor(snapshot: ToolSet) {
    this.#snapshot = snapshot;
  }

  /** True once a step that is not read-only ran, or may have. */
  get hasEffects(): boolean {
    return this.#hasEffects;
  }

  skipped({ id, tool }: Step): void {
    this.#entries.set(id, { id, tool, outcome: 'skipped', callId: '', calls: 0, failed: 0 });
  }

  ended({ id, tool }: Step, response: ToolResponse): void {
    const entry = this.#entries.get(id) ?? { id, tool, outcome: 'ok', callId: '', calls: 0, failed: 0 };
    this.#entries.set(id, entry);
    entry.calls += 1;
    if (entry.failed === 0) entry.callId = response.meta.callId;
    if (response.ok) {
      const readOnly = this.#snapshot.find(tool)?.function.spec.metadata.readOnly ?? false;
      this.#hasEffects ||= !readOnly;
      return;
    }
    if (entry.failed === 0) entry.outcome = response.error.type;
    entry.failed += 1;
    this.#hasEffects ||= response.error.partialSideEffects;
  }

  /** One entry per step that was reached, in the order they ended. */
  list(): JsonObject[] {
    return [...this.#entries.values()].map(({ id, tool, outcome, callId, calls, failed }) => ({
      id,
      tool,
      outcome,
      ...(callId !== '' && { call_id: callId }),
      ...(calls > 1 && { calls, failed }),
    }));
  }
}

/** A run that ends before its last step. The failure is made when everything that had begun has ended. */
export class StepBreak extends Error {
  readonly failureOf: (report: StepReport) => ToolFailure;

  constructor(failureOf: (report: StepReport) => ToolFailure) {
    super('the steps broke off');
    this.name = 'StepBreak';
    this.failureOf = failureOf;
  }
}

/** The failure of one step, as the failure of the whole: its type, reason and time, and what ran before it. */
export function failedStep({ id, tool }: Step, { error }: ToolRefusal, args: JsonValue): StepBreak {
  return new StepBreak((report) => {
    const message = `The step "${id}" (${tool}) failed: ${error.message}`.slice(0, MAX_MESSAGE_LENGTH);
    const awaitsApproval = error.type === 'CONFIRMATION_REQUIRED';
    return new ToolFailure(error.type, message, {
      reason: error.reason,
      origin: error.origin,
      // Once something was done, the whole is not to be done again just so.
      retryable: error.retryable && !report.hasEffects,
      ...(error.retryAfterMs !== null && { retryAfterMs: error.retryAfterMs }),
      partialSideEffects: report.hasEffects,
      details: {
        // Where callers look for it: the approval, and the call that it is for, which may be a step of this step.
        ...(awaitsApproval && { ...brief({ call: { tool, arguments: args } }), ...error.details }),
        step: id,
        steps: report.list(),
        ...(!awaitsApproval && brief({ step_details: error.details })),
      },
    });
  });
}

/** The steps do not fit together on this call's data: nobody's fault but the tool's. */
export function misfit(what: string, reason: Reason): StepBreak {
  return new StepBreak(
    (report) =>
      new ToolFailure('PERMANENT', `The steps of this tool do not go together on this call: ${what}.`, {
        origin: 'tool',
        reason,
        partialSideEffects: report.hasEffects,
        details: { steps: report.list() },
      }),
  );
}

export function tooLarge(limit: number): StepBreak {
  return new StepBreak((report) =>
    toolFailure('STEPS_TOO_LARGE', `The results of the steps are longer than ${limit} characters together.`, {
      partialSideEffects: report.hasEffects,
      details: { steps: report.list() },
    }),
  );
}

function brief(details: JsonObject): JsonObject {
  const text = JSON.stringify(details);
  return text.length > MAX_DETAILS_LENGTH || text === '{"step_details":{}}' ? {} : details;
}
