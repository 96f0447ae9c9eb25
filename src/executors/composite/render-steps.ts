// What a composite would do, for a dry run: its steps, with the arguments that the input alone decides.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { isTruthy } from '../../lib/jmespath/evaluate.ts';
import { ExpressionError, Work } from '../../lib/jmespath/work.ts';
import type { Program, Step } from './compile-steps.ts';

/** References to what steps will return stay as they are written: `{ $: steps.first.id }`. */
export function renderSteps({ stages }: Program, input: JsonObject): JsonObject {
  const work = new Work();
  const rendered = stages.map(({ steps, isGroup }): JsonValue => {
    const each = steps.map((step) => renderStep(step, input, work));
    return isGroup ? { parallel: each } : (each[0] ?? null);
  });
  return { steps: rendered };
}

function renderStep(step: Step, input: JsonObject, work: Work): JsonObject {
  const { id, tool, when, forEach, maxItems, onError } = step;
  try {
    return {
      id,
      tool,
      arguments: step.arguments.preview({ input }, work),
      ...(when && {
        when: when.needsOnlyInput ? isTruthy(when.evaluate({ input }, work)) : { $: when.text },
      }),
      ...(forEach && { for_each: { $: forEach.text }, max_items: maxItems }),
      on_error: onError,
    };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const message = `The step "${id}" cannot be made of these arguments: ${error.message}.`;
    throw new ToolFailure('PERMANENT', message, { origin: 'tool', reason: error.reason });
  }
}
