// result-guard: looks through what a tool answers before anybody gets it, and before anything keeps it: masks, or refuses.
import { z } from 'zod';
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import type { Intent } from '../../contract/call/intent.ts';
import type { CallEvent, Emit, ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolRefusal, ToolResponse, ToolSuccess } from '../../contract/call/tool-response.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { ExtensionPlugin, ToolExtension } from '../../contract/plugin.ts';
import { inSlices, isLarge, yieldToLoop } from '../../lib/concurrency/in-slices.ts';
import { findingCounts, type CountFindings, foundIn } from '../../lib/content-guard/finding-counts.ts';
import { guardCause } from '../../lib/content-guard/guard-cause.ts';
import { guardJson, JsonRefused } from '../../lib/content-guard/guard-json.ts';
import { maxCharacters } from '../../lib/content-guard/options.ts';
import { compileRules, resultRules, type Rule, type RuleSet } from '../../lib/content-guard/rules.ts';
import { stringifyInSlices } from '../../lib/large-json/write-json.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';

const optionsSchema = z.strictObject({
  rules: resultRules.describe('What is looked for in results, and what becomes of a result that has it.'),
  max_characters: maxCharacters,
});
type ResultGuardOptions = z.infer<typeof optionsSchema>;

interface Needs {
  readonly log: Log;
  readonly metrics: Metrics;
}

export const resultGuard: ExtensionPlugin<ResultGuardOptions, Needs> = {
  name: 'result-guard',
  summary: 'Masks secrets and personal data in what a tool answers, or refuses the answer.',
  optionsSchema,
  create: (needs) => createResultGuard(needs),
};

function createResultGuard({ log, metrics }: Needs): ToolExtension<ResultGuardOptions> {
  const countsOf = findingCounts(metrics.counter(ACCESS_SERIES.ute_guard_findings_total), 'result');
  return {
    stage: 'tool',
    onFailure: 'deny',
    prepare(fn, { rules, max_characters: most }) {
      if (rules.length === 0) return undefined;
      const compiled = compileRules(rules);
      const guard = new AnswerGuard(compiled, most, countsOf(fn.name, compiled), log);
      return async function guardResult(call, next) {
        const response = await next(withoutText(call));
        // What reads and writes a large answer has taken this turn.
        if (response.ok && isLarge(response.dataJson)) await yieldToLoop();
        return guard.clean(call, response);
      };
    },
  };
}

/** A text may be cut between two partial results, where no rule finds it: only how far the call has come is told. */
function withoutText(call: ToolCall): ToolCall {
  const { emit } = call.request;
  if (emit === undefined) return call;
  const tell: Emit = (event: CallEvent) => {
    if (event.kind === 'progress' && event.fraction !== undefined)
      emit({ kind: 'progress', fraction: event.fraction });
  };
  return { ...call, request: { ...call.request, emit: tell } };
}

class AnswerGuard {
  readonly #rules: RuleSet;
  readonly #most: number;
  readonly #count: CountFindings;
  readonly #log: Log;

  constructor(rules: RuleSet, most: number, count: CountFindings, log: Log) {
    this.#rules = rules;
    this.#most = most;
    this.#count = count;
    this.#log = log;
  }

  /** Rejects with ToolFailure where the answer is refused. */
  async clean(call: ToolCall, response: ToolResponse): Promise<ToolResponse> {
    try {
      return response.ok ? await this.#success(call, response) : await this.#refusal(call, response);
    } catch (error) {
      if (!(error instanceof JsonRefused)) throw error;
      this.#note(call, error.counts);
      throw refused(error, response);
    }
  }

  async #success(call: ToolCall, response: ToolSuccess): Promise<ToolSuccess> {
    const { data, intents } = response;
    const whole: JsonObject = intents.length === 0 ? { data } : { data, intents: [...intents] };
    const clean = await this.#guard<{ data: JsonValue; intents?: readonly Intent[] }>(call, whole);
    if (clean === undefined) return response;
    const dataJson = clean.data === data ? response.dataJson : await stringifyInSlices(clean.data);
    return { ...response, data: clean.data, dataJson, intents: clean.intents ?? intents };
  }

  /** The cause is not for callers, and gets into the log: no more of it than an answer may say. */
  async #refusal(call: ToolCall, response: ToolRefusal): Promise<ToolRefusal> {
    const { message, reason, details } = response.error;
    const clean = await this.#guard<{ message: string; reason: string; details: JsonObject }>(call, {
      message,
      reason,
      details,
    });
    const said = clean === undefined ? response : { ...response, error: { ...response.error, ...clean } };
    if (said.cause === undefined) return said;
    return { ...said, cause: await inSlices(guardCause(said.cause, this.#rules, this.#most)) };
  }

  /** Undefined: nothing was masked. */
  async #guard<Whole>(call: ToolCall, value: JsonObject): Promise<Whole | undefined> {
    const { value: clean, counts } = await inSlices(guardJson(value, this.#rules, this.#most));
    this.#note(call, counts);
    return clean === value ? undefined : (clean as Whole);
  }

  #note(call: ToolCall, counts: ReadonlyMap<Rule, number>): void {
    if (counts.size === 0) return;
    const found = this.#count(counts);
    call.progress.notes = { ...call.progress.notes, found_in_result: found };
    this.#log.info(
      { ...callLogFields(call), tool: call.function?.name, found: foundIn(found) },
      'rules found something in a result',
    );
  }
}

function refused({ pointer, message, rule }: JsonRefused, response: ToolResponse): ToolFailure {
  return new ToolFailure('OUTPUT_INVALID', `The tool's answer is refused: ${pointer} ${message}.`, {
    reason: 'CONTENT_REFUSED',
    details: { pointer, ...(rule !== undefined && { rule }) },
    // What it did, it did: an error that is refused may have known better.
    ...(!response.ok && { partialSideEffects: response.error.partialSideEffects }),
  });
}
