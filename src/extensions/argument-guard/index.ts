// argument-guard: looks arguments through before anything keeps them or runs with them: masks, refuses, or asks a human.
import { z } from 'zod';
import { callLogFields } from '../../contract/call/call-log-fields.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { ExtensionPlugin, Layer, ToolExtension } from '../../contract/plugin.ts';
import { atOnce, inSlices } from '../../lib/concurrency/in-slices.ts';
import { findingCounts, type CountFindings, foundIn } from '../../lib/content-guard/finding-counts.ts';
import { guardJson, JsonRefused, type GuardedJson } from '../../lib/content-guard/guard-json.ts';
import { maxCharacters } from '../../lib/content-guard/options.ts';
import { argumentRules, compileRules, type Rule } from '../../lib/content-guard/rules.ts';
import { fromPointer } from '../../lib/json/json-pointer.ts';
import { isLargeJson } from '../../lib/large-json/write-json.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { ACCESS_SERIES } from '../../ports/telemetry/series/access.ts';

const optionsSchema = z.strictObject({
  rules: argumentRules.describe('What is looked for in arguments, and what becomes of a call that has it.'),
  max_characters: maxCharacters,
});
type ArgumentGuardOptions = z.infer<typeof optionsSchema>;

interface Needs {
  readonly log: Log;
  readonly metrics: Metrics;
}

export const argumentGuard: ExtensionPlugin<ArgumentGuardOptions, Needs> = {
  name: 'argument-guard',
  summary: 'Masks secrets and personal data in arguments, refuses calls that have them, or asks a human.',
  optionsSchema,
  shape: (spec, { rules }) =>
    rules.some(({ action }) => action === 'ask') ? { ...spec, mayNeedApproval: true } : spec,
  create: (needs) => createArgumentGuard(needs),
};

function createArgumentGuard({ log, metrics }: Needs): ToolExtension<ArgumentGuardOptions> {
  const countsOf = findingCounts(metrics.counter(ACCESS_SERIES.ute_guard_findings_total), 'arguments');
  return {
    stage: 'tool',
    onFailure: 'deny',
    phases: ['admit', 'run'],
    prepare(fn, { rules, max_characters: most }) {
      if (rules.length === 0) return undefined;
      const compiled = compileRules(rules);
      return guardingArguments((args) => guardJson(args, compiled, most), countsOf(fn.name, compiled), log);
    },
  };
}

function guardingArguments(
  guard: (args: JsonObject) => Generator<void, GuardedJson>,
  count: CountFindings,
  log: Log,
): Layer {
  const note = (call: ToolCall, counts: ReadonlyMap<Rule, number>) => {
    if (counts.size === 0) return;
    const found = count(counts);
    call.progress.notes = { ...call.progress.notes, found_in_arguments: found };
    log.info(
      { ...callLogFields(call), tool: call.function?.name, found: foundIn(found) },
      'rules found something in arguments',
    );
  };
  const passed = (call: ToolCall, guarded: GuardedJson): ToolCall => {
    note(call, guarded.counts);
    refuseMaskedNumbers(call, guarded.value);
    if (guarded.asked !== undefined) askFirst(call, guarded.asked);
    // Masks take no name away, and put no list in the place of an object.
    return guarded.value === call.arguments ? call : { ...call, arguments: guarded.value as JsonObject };
  };
  const refused = (call: ToolCall, error: unknown): unknown => {
    if (!(error instanceof JsonRefused)) return error;
    note(call, error.counts);
    return contentRefused(error.pointer, error.message, error.rule);
  };
  return function guardArguments(call, next) {
    if (isLargeJson(call.arguments)) {
      return inSlices(guard(call.arguments)).then(
        (guarded) => next(passed(call, guarded)),
        (error: unknown) => {
          throw refused(call, error);
        },
      );
    }
    let guarded: GuardedJson;
    try {
      guarded = atOnce(guard(call.arguments));
    } catch (error) {
      throw refused(call, error);
    }
    return next(passed(call, guarded));
  };
}

/**
 * Approval stands further in and asks. Where an operator's order has it elsewhere, or it has not asked for another reason,
 * the call does not get as far as its executor.
 */
function askFirst(call: ToolCall, { rule, pointer }: NonNullable<GuardedJson['asked']>): void {
  const { progress, phase } = call;
  const unasked = () =>
    contentRefused(pointer, `holds what the rule "${rule}" asks a human about, and nobody was asked`, rule);
  if (phase.kind === 'resume') {
    if (phase.admitted.runs === undefined) throw unasked();
    return;
  }
  progress.needsApproval = true;
  const { beforeExecution } = progress;
  progress.beforeExecution = async (running) => {
    if (progress.approvedFor === undefined) throw unasked();
    await beforeExecution?.(running);
  };
}

/** Integers beyond 2^53 stand there as text, and the tool is given numbers. */
function refuseMaskedNumbers({ arguments: args, largeIntegers = [] }: ToolCall, value: JsonValue): void {
  if (value === args) return;
  for (const pointer of largeIntegers) {
    if (valueAt(args, pointer) !== valueAt(value, pointer))
      throw contentRefused(pointer, 'is a number that would have to be masked');
  }
}

function valueAt(value: JsonValue, pointer: string): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const step of fromPointer(pointer)) {
    if (Array.isArray(at)) at = at[Number(step)];
    else at = isJsonObject(at) ? at[step] : undefined;
  }
  return at;
}

function contentRefused(pointer: string, message: string, rule?: string): ToolFailure {
  const place = pointer === '' ? 'what they hold' : pointer;
  return toolFailure('CONTENT_REFUSED', `The arguments are refused: ${place} ${message}.`, {
    details: { pointer, ...(rule !== undefined && { rule }) },
  });
}
