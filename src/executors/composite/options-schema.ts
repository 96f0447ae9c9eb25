// The composite executor's options: steps, what each passes on, and the checks of every reference between them.
import { z } from 'zod';
import { compileSteps, StepFault } from './compile-steps.ts';
import { MAX_CONCURRENCY, MAX_ITEMS, MAX_STEPS, type CompositeOptions } from './options.ts';
import { whole } from '../../lib/settings/whole.ts';

const expression = z.string().min(1);

const step = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'expected a letter, then up to 63 letters, digits or "_"')
    .describe('Names the step: later ones refer to its result as steps.<id>.'),
  tool: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'expected the name of a tool, or tool.action')
    .describe('What is called. Fixed: no expression chooses it.'),
  arguments: z
    .record(z.string(), z.json())
    .default({})
    .describe('JSON. { $: expression } stands for a value; everything else is literal.'),
  when: expression
    .optional()
    .describe('Expression: the step is left out, and its result null, unless it is true.'),
  for_each: expression
    .optional()
    .describe(
      'Expression for a list: one call per entry, bound to item and index; the result is the list of results.',
    ),
  max_items: whole(1, MAX_ITEMS)
    .optional()
    .describe(`Most entries of for_each, ${MAX_ITEMS} when left out. A longer list is refused, not cut.`),
  concurrency: whole(1, MAX_CONCURRENCY)
    .optional()
    .describe('Calls of for_each that run at the same time; 1 when left out.'),
  on_error: z
    .enum(['stop', 'continue'])
    .default('stop')
    .describe('continue: the result is null, and errors.<id> tells the type, reason and message.'),
});

const group = z.strictObject({
  parallel: z
    .array(step)
    .min(2)
    .max(MAX_STEPS)
    .describe('Steps that run at the same time. None sees the result of another; what comes after sees all.'),
});

export const compositeOptionsSchema: z.ZodType<CompositeOptions> = z
  .strictObject({
    steps: z
      .array(z.union([step, group]))
      .min(1)
      .max(MAX_STEPS)
      .describe(
        `Calls in order, or { parallel: [steps] }; ${MAX_STEPS} steps at most, groups counted by their steps.`,
      ),
    result: expression
      .optional()
      .describe("Expression for the data of the answer; an object of every step's result when left out."),
    agreed: z
      .record(z.string(), z.string().min(1).max(128))
      .optional()
      .describe(
        'Of plans, set by the gateway: hashes of what the tools of the steps ran when a human agreed. Where one runs anything else, the call is refused.',
      ),
  })
  .superRefine((options, context) => {
    try {
      compileSteps(options);
    } catch (error) {
      if (!(error instanceof StepFault)) throw error;
      context.addIssue({ code: 'custom', path: [...error.path], message: error.message });
    }
  });
