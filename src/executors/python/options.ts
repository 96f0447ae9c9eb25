// Options: what implementation_config of a python tool may say.
import { z } from 'zod';
import { MOST_SOURCE_CHARS } from './source-tool.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';

/** No name starts with an underscore: what a module keeps to itself is no tool. */
const MODULE = /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$/;
const FUNCTION = /^[A-Za-z][A-Za-z0-9_]*$/;

const fields = {
  module: z
    .string()
    .regex(MODULE, 'must be a Python module such as math_tools or billing.invoices; no part starts with _')
    .optional()
    .describe('Python module, looked for in the module folders and beside the file that declares the tool.'),
  function_name: z
    .string()
    .regex(FUNCTION, 'must be the name of a Python function; it does not start with _')
    .optional()
    .describe(
      'Function in the module. Left out for a tool with actions: each action calls the function of its name.',
    ),
  pure: z
    .boolean()
    .optional()
    .describe(
      'The function keeps nothing between calls: it runs in the worker itself, many times faster, and nothing is cleaned up after it.',
    ),
  interpreter: z
    .string()
    .min(1)
    .optional()
    .describe('Name of an entry of executors.python.interpreters in gateway.yaml.'),
  network: z
    .enum(['none', 'host'])
    .optional()
    .describe('What the tool reaches from inside the sandbox. Default: executors.python.network.'),
  code: z
    .literal(true)
    .optional()
    .describe('Runs the argument `code` as Python, in the sandbox only, instead of a function of a module.'),
  source: z
    .string()
    .regex(/\S/, 'must be Python that defines the function `execute`')
    .max(MOST_SOURCE_CHARS, `must have at most ${MOST_SOURCE_CHARS} characters`)
    .optional()
    .describe(
      'Python that defines `execute`, which is called with the arguments by name: it stands in the declaration, and runs in the sandbox only.',
    ),
  allow_code: z
    .literal(true)
    .optional()
    .describe('Says that running code is meant, for a tool that is not marked is_dangerous.'),
};

export const optionsSchema = z.strictObject(fields).superRefine((options, context) => {
  const complain = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message });
  if (options.source !== undefined) {
    for (const field of ['module', 'function_name', 'pure', 'code', 'allow_code'] as const)
      if (options[field] !== undefined) complain(field, 'must be left out where `source` stands.');
    return;
  }
  if (options.code === undefined) {
    if (options.module === undefined)
      complain('module', 'is missing: which Python module does the tool call?');
    if (options.allow_code !== undefined) complain('allow_code', 'means nothing without `code: true`.');
    return;
  }
  for (const field of ['module', 'function_name', 'pure'] as const) {
    if (options[field] !== undefined) complain(field, 'must be left out where `code: true` stands.');
  }
});

export type PythonOptions = z.infer<typeof optionsSchema>;

/** The function that one callable of a tool stands for. Throws a sentence for the operator. */
export function functionName({ spec, action }: ToolFunction, { function_name }: PythonOptions): string {
  if (action === undefined) {
    if (function_name !== undefined) return function_name;
    throw new Error(
      'function_name is missing: a tool without actions must say which function of the module it calls.',
    );
  }
  if (function_name !== undefined) {
    throw new Error(
      `function_name must be left out of a tool with actions: ${spec.name} calls the function named like each action.`,
    );
  }
  if (FUNCTION.test(action.name)) return action.name;
  throw new Error(
    `the action ${action.name} cannot be a Python function's name: it must be letters, digits and _, and not start with _.`,
  );
}

/** True if the allow-list is empty, or names the module or a package that it lies in. */
export function isListed(module: string, allowed: readonly string[]): boolean {
  return (
    allowed.length === 0 || allowed.some((listed) => module === listed || module.startsWith(`${listed}.`))
  );
}
